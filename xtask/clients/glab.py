"""How the vendor's command line client asks: its paths, queries, headers and pages."""

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

from shapes import decode

API = os.environ["FORGEWAY_URL"] + "/api/v4/"
HEADERS = {"PRIVATE-TOKEN": os.environ["FORGEWAY_TOKEN"], "Accept": "application/json", "User-Agent": "glab/smoke"}
TIMEOUT_SECONDS = 60
WAIT_SECONDS = 20


class Refusal(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


def segment(text):
    """As that client writes a part of a path: dots are escaped, too."""
    return urllib.parse.quote(str(text), safe="$&+:=@~").replace(".", "%2E")


def exchange(method, path, query=None, body=None):
    """One request; answers the status, the headers and the bytes. Bodies are JSON, and a POST without one says so, too."""
    address = API + path
    if query:
        address += "?" + urllib.parse.urlencode(sorted(query.items()))
    headers = dict(HEADERS)
    if method in ("POST", "PUT"):
        headers["Content-Type"] = "application/json"
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, content, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        raise Refusal(error.code, error.read().decode(errors="replace")) from None


def call(method, path, shape, query=None, body=None, status=None):
    """A call whose answer is decoded; `status` where it is not the one that is usual for the method."""
    got, _, content = exchange(method, path, query, body)
    wanted = status or {"GET": 200, "POST": 201, "PUT": 200}[method]
    assert got == wanted, f"{method} {path}: {got} instead of {wanted}"
    return decode(json.loads(content), shape, f"{method} {path}")


def remove(path, query=None):
    status, _, _ = exchange("DELETE", path, query)
    # Groups and projects are only promised to go.
    assert status in (202, 204), f"DELETE {path}: {status}"


def next_link(headers):
    """That client cuts the header at commas and semicolons, whatever stands in the addresses."""
    for link in (headers["Link"] or "").split(","):
        parts = link.split(";")
        if len(parts) > 1 and parts[1].split("=")[1].strip('"') == "next":
            return parts[0].strip("< >")
    return None


def collect(path, shape, query):
    """All pages, as that client walks them: by the link, else by the number of the next page."""
    found, query = [], dict(query)
    for _ in range(100):
        _, headers, content = exchange("GET", path, query)
        found += decode(json.loads(content), [shape], path)
        link = next_link(headers)
        if link:
            query.update(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query, keep_blank_values=True))
        elif headers["X-Next-Page"]:
            query["page"] = headers["X-Next-Page"]
        else:
            return found
    raise AssertionError(f"{path} has no last page")


def refused(call_, status):
    try:
        call_()
    except Refusal as refusal:
        assert refusal.status == status, f"{refusal.status} instead of {status}: {refusal}"
        return refusal
    raise AssertionError(f"no refusal, {status} was expected")


def eventually(find):
    """What `find` answers once that is something: what the server does after it has answered."""
    for _ in range(WAIT_SECONDS * 20):
        if found := find():
            return found
        time.sleep(0.05)
    raise AssertionError(f"nothing came of it within {WAIT_SECONDS} s")
