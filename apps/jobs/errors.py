"""What can end a job early."""


class JobError(Exception):
    """A fact about the job's input, in words for people: the cause and the next step."""


class Canceled(Exception):
    """Somebody asked the job to stop."""


class LeaseLost(Exception):
    """Another worker has taken the job over; this one must write nothing more."""


class UnknownKind(ValueError):
    """No job of that kind is registered."""
