"""Published results: what papers printed, the command that would give it here, and what came of it. Nothing is shown here."""
