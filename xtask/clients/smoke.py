"""What all steps share: how they are collected, what they hand on, and what a refusal is."""

import os

import gitlab

URL = os.environ["FORGEWAY_URL"]
TOKEN = os.environ["FORGEWAY_TOKEN"]
PASSWORD = os.environ["FORGEWAY_PASSWORD"]

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def refused(call, status):
    """The call must fail with that status; answers the client's error."""
    try:
        call()
    except gitlab.exceptions.GitlabError as error:
        assert error.response_code == status, f"{error.response_code} instead of {status}: {error}"
        return error
    raise AssertionError(f"no error, {status} was expected")


class Run:
    """What later steps need from earlier ones."""

    def __init__(self):
        self.gl = gitlab.Gitlab(URL, private_token=TOKEN)
        self.project = None
        self.first = None
        self.group = None
        self.people = []
        self.reviewed = None
