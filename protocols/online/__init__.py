"""Online continual learning: online accuracy, near-future accuracy and retention of learners of a stream."""
