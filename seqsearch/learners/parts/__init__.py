"""Common parts of learners of streams: samplers of the revealed samples, training by gradient, neighbours."""
