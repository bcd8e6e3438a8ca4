"""The two kinds of trouble that are not bugs."""


class UserError(Exception):
    """A mistake the user can mend: one line saying what, where and how. The CLI prints it and exits with code 2."""


class AccessError(RuntimeError):
    """A method asked for data that class-incremental learning does not let it see."""
