"""A runner that executes nothing: it takes jobs through the runner protocol and reports what it is told to.

Steps drive it job by job. Started as a program with a runner's token it plays every waiting job to success.
Reads FORGEWAY_URL.
"""

import gzip
import io
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zipfile
import zlib

API = os.environ["FORGEWAY_URL"] + "/api/v4"
SYSTEM = "s_0123456789ab"
TIMEOUT_SECONDS = 90

# A runner without a feature that a job needs does not get that job: the server fails it.
FEATURES = [
    "variables", "image", "services", "artifacts", "cache", "shared", "upload_multiple_artifacts", "upload_raw_artifacts",
    "session", "terminal", "refspecs", "masking", "proxy", "raw_variables", "artifacts_exclude", "multi_build_steps",
    "trace_reset", "trace_checksum", "trace_size", "vault_secrets", "cancelable", "return_exit_code", "service_variables",
]
INFO = {
    "name": "fake-runner", "version": "18.11.4", "revision": "0badcafe", "platform": "linux", "architecture": "amd64",
    "executor": "shell", "shell": "bash", "features": dict.fromkeys(FEATURES, True),
}

JUNIT = b"""<testsuite name="smoke"><testcase classname="Sum" name="adds" time="0.5"/>
<testcase classname="Sum" name="carries" time="0.25"><failure>9 is not 10</failure></testcase></testsuite>"""


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        # The real client takes nothing else for an answer.
        kind = self.headers.get("Content-Type", "")
        assert kind.split(";")[0] == "application/json", f"{self.status} {kind}: {self.body[:200]}"
        return json.loads(self.body)

    def expect(self, *statuses):
        assert self.status in statuses, f"{self.status} instead of {statuses}: {self.body[:300]}"
        return self


def send(method, path, body=None, **headers):
    """One request; `body` is JSON unless it is bytes. Header names are written with `_` for `-`."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        headers.update({"Content-Type": "application/json", "Accept": "application/json"})
    request = urllib.request.Request(API + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, error.read())


def register(registration_token, **attributes):
    """What `gitlab-runner register` does with a registration token."""
    made = send("POST", "/runners", {"token": registration_token, "info": INFO, **attributes}).expect(201).json()
    return Runner(made["token"])


class Runner:
    def __init__(self, token):
        self.token = token
        self.cursor = None

    def verify(self):
        return send("POST", "/runners/verify", {"token": self.token, "system_id": SYSTEM}).expect(200).json()

    def unregister(self):
        send("DELETE", "/runners", {"token": self.token}).expect(204)

    def take(self):
        """The next job, or None when none waits."""
        body = {"token": self.token, "system_id": SYSTEM, "info": INFO}
        answer = send("POST", "/jobs/request", body).expect(201, 204)
        if answer.status == 204:
            self.cursor = answer.headers["X-GitLab-Last-Update"]
            assert self.cursor, "no cursor to ask again with"
            return None
        return Job(answer.json())

    def play_all(self, limit=50):
        """Plays what waits, and what comes of that, to success; answers the names."""
        names = []
        while len(names) < limit and (job := self.take()):
            job.play()
            names.append(job.name)
        return names


class Job:
    """A job in this runner's hands."""

    def __init__(self, payload):
        self.payload = payload
        self.id, self.token = payload["id"], payload["token"]
        self.name = payload["job_info"]["name"]
        self.log = b""

    def variables(self):
        """As the real client reads them: of several with one key the last counts."""
        for variable in self.payload["variables"]:
            assert isinstance(variable["key"], str) and isinstance(variable["value"], str), variable
        return {variable["key"]: variable["value"] for variable in self.payload["variables"]}

    def script(self):
        return next(step["script"] for step in self.payload["steps"] if step["name"] == "script")

    def write(self, text):
        """Appends to the log."""
        piece = text.encode()
        answer = send(
            "PATCH", f"/jobs/{self.id}/trace", piece, JOB_TOKEN=self.token, Content_Type="text/plain",
            Content_Range=f"{len(self.log)}-{len(self.log) + len(piece) - 1}",
        ).expect(202)
        self.log += piece
        assert answer.headers["Range"] == f"0-{len(self.log)}", answer.headers["Range"]
        assert answer.headers["Job-Status"] == "running", answer.headers["Job-Status"]

    def upload(self, content, filename, kind="archive", form="zip", expire_in=""):
        """Sends an artifact as the real client does: one multipart field `file`."""
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        body = f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + content + f"\r\n--{boundary}--\r\n".encode()
        query = urllib.parse.urlencode({"artifact_type": kind, "artifact_format": form, "expire_in": expire_in})
        content_type = f"multipart/form-data; boundary={boundary}"
        send(
            "POST", f"/jobs/{self.id}/artifacts?{query}", body, JOB_TOKEN=self.token, Content_Type=content_type
        ).expect(201)

    def upload_artifacts(self, files):
        """All artifacts that the job asks for: an archive of these files, and a test report."""
        for wanted in self.payload["artifacts"] or []:
            named = {"kind": wanted["artifact_type"], "form": wanted["artifact_format"], "expire_in": wanted.get("expire_in", "")}
            if named["kind"] == "archive":
                self.upload(zipped(files), "artifacts.zip", **named)
            elif named["kind"] == "junit":
                self.upload(gzip.compress(JUNIT), "junit.xml.gz", **named)

    def end(self, state, **more):
        checksum = {"checksum": f"crc32:{zlib.crc32(self.log):08x}", "bytesize": len(self.log)}
        body = {"token": self.token, "state": state, "output": checksum, "info": INFO, **more}
        answer = send("PUT", f"/jobs/{self.id}", body, JOB_TOKEN=self.token).expect(200)
        assert answer.headers["Job-Status"] == state, answer.headers["Job-Status"]

    def fail(self):
        self.write("ERROR: Job failed: exit code 1\n")
        self.end("failed", failure_reason="script_failure", exit_code=1)

    def play(self, log="Total: 75%\n", files=None):
        """The whole life of a job that succeeds."""
        self.write(f"Running with fake-runner\n$ {self.script()[0]}\n")
        self.write(log)
        self.upload_artifacts(files or {"out/program": b"built\n"})
        self.end("success")


def zipped(files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in files.items():
            made.writestr(path, content)
    return archive.getvalue()


if __name__ == "__main__":
    print(json.dumps(Runner(sys.argv[1]).play_all()))
