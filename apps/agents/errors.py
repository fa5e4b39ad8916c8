"""What can end a run before its answer."""


class LeaseLost(Exception):
    """Another worker has taken the run over; this one must write nothing more."""


class RunCanceled(Exception):
    """Somebody pressed Stop."""


class DeadlinePassed(Exception):
    """The run has used its wall time."""


class Stopped(Exception):
    """The loop stopped itself; carries the termination reason and words for people."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason
        self.words = words
