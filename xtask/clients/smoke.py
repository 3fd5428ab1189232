"""What all steps share: how they are collected, what they hand on, and what a refusal is."""

import os
import time

import gitlab

URL = os.environ["FORGEWAY_URL"]
TOKEN = os.environ["FORGEWAY_TOKEN"]
PASSWORD = os.environ["FORGEWAY_PASSWORD"]

WAIT_SECONDS = 20

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def collector():
    """A list of steps and the decorator that fills it, for a module whose steps python_gitlab.py runs among its own."""
    steps = []

    def collect(function):
        steps.append(function)
        return function

    return steps, collect


def refused(call, status):
    """The call must fail with that status; answers the client's error."""
    try:
        call()
    except gitlab.exceptions.GitlabError as error:
        assert error.response_code == status, f"{error.response_code} instead of {status}: {error}"
        return error
    raise AssertionError(f"no error, {status} was expected")


def eventually(find):
    """What `find` answers once that is something: what the server does after it has answered."""
    for _ in range(WAIT_SECONDS * 20):
        if found := find():
            return found
        time.sleep(0.05)
    raise AssertionError(f"nothing came of it within {WAIT_SECONDS} s")


class Run:
    """What later steps need from earlier ones."""

    def __init__(self):
        self.gl = gitlab.Gitlab(URL, private_token=TOKEN)
        self.project = None
        self.first = None
        self.group = None
        self.people = []
        self.reviewed = None
        self.piped = None
        self.runner = None
        self.taken = None
        self.pipeline = None
