"""Contents of a Forgeway that keeps them in S3-compatible storage: `write` leaves some of each kind, `read` finds them again.

Reads FORGEWAY_URL, FORGEWAY_TOKEN, FORGEWAY_PASSWORD, and S3_ENDPOINT and S3_BUCKET to see what lies in the bucket.
Ends with 1 when something is not as it should be.
"""

import hashlib
import io
import json
import os
import struct
import sys
import tarfile
import time
import zlib

import boto3
import gitlab
import requests

import fake_runner
from smoke import PASSWORD, TOKEN, URL

KEPT = "object_store.json"
CONFIG = "build:\n  script: [make]\n  artifacts: {paths: [out]}\n"
# Longer than one part of an upload, and packed to no less.
LARGE = hashlib.shake_256(b"large").digest(20 << 20)
FILES = {"out/note.txt": b"noted\n", "out/large.bin": LARGE}
LOG = b"Running with fake-runner\n$ make\nTotal: 75%\n"
# Removing a project is work in the background.
PATIENCE_SECONDS = 60


def picture():
    """The smallest PNG."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def bucket():
    keys = {"aws_access_key_id": "forgeway", "aws_secret_access_key": "scratch-secret", "region_name": "us-east-1"}
    return boto3.resource("s3", endpoint_url=os.environ["S3_ENDPOINT"], **keys).Bucket(os.environ["S3_BUCKET"])


def objects():
    return [found.key for found in bucket().objects.all()]


def kinds():
    """What the bucket has anything of."""
    return {name.split("/")[1] for name in objects()}


def get(path, **headers):
    return requests.get(URL + path, headers={"PRIVATE-TOKEN": TOKEN, **headers}, timeout=60)


def lfs(method, project, oid, size=None, data=None):
    path = f"{URL}/{project}.git/info/lfs/objects/{oid}" + (f"/{size}" if size is not None else "")
    return requests.request(method, path, data=data, auth=("root", PASSWORD), timeout=60)


def pointer(content):
    oid = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"


def write(gl):
    project = gl.projects.create({"name": "Stored", "path": "stored", "visibility": "private"})
    files = {".gitlab-ci.yml": CONFIG, ".gitattributes": "*.bin filter=lfs\n", "large.bin": pointer(LARGE)}
    actions = [{"action": "create", "file_path": path, "content": text} for path, text in files.items()]
    project.commits.create({"branch": "main", "commit_message": "Add", "actions": actions})
    gl.auth()
    runner = gl.user.runners.create({"runner_type": "project_type", "project_id": project.id})
    job = fake_runner.Runner(runner.token).take()
    job.play(files=FILES)
    upload = project.upload("Grüße.txt", filedata=b"hello\n")
    project.avatar = picture()
    project.save()
    oid = hashlib.sha256(LARGE).hexdigest()
    assert lfs("PUT", "root/stored", oid, len(LARGE), LARGE).status_code == 200
    kept = {"project": project.id, "job": job.id, "upload": upload["url"], "avatar": gl.projects.get(project.id).avatar_url}
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(kept, file)


def log(path):
    """Logs grow line by line, which no bucket lets them: they are files of the server, beside what is in the bucket."""
    assert get(path).content == LOG
    part = get(path, Range="bytes=8-11")
    assert (part.status_code, part.content) == (206, LOG[8:12]), part.status_code


def read(gl):
    with open(KEPT, encoding="utf-8") as file:
        kept = json.load(file)
    log(f"/api/v4/projects/{kept['project']}/jobs/{kept['job']}/trace")
    artifacts = f"/api/v4/projects/{kept['project']}/jobs/{kept['job']}/artifacts"
    whole = get(artifacts)
    assert whole.content == fake_runner.zipped(FILES) or len(whole.content) > len(LARGE), whole.status_code
    part = get(artifacts, Range="bytes=9000000-9000009")
    assert (part.status_code, part.content) == (206, whole.content[9_000_000:9_000_010]), part.status_code
    assert get(f"{artifacts}/out/note.txt").content == b"noted\n"
    assert get(f"{artifacts}/out/large.bin").content == LARGE
    end = get(f"{artifacts}/out/large.bin", Range="bytes=-4")
    assert (end.status_code, end.content) == (206, LARGE[-4:]), end.status_code
    secret, name = kept["upload"].split("/")[-2:]
    assert get(f"/api/v4/projects/{kept['project']}/uploads/{secret}/{name}").content == b"hello\n", kept["upload"]
    assert requests.get(kept["avatar"], headers={"PRIVATE-TOKEN": TOKEN}, timeout=60).content == picture()
    assert lfs("GET", "root/stored", hashlib.sha256(LARGE).hexdigest()).content == LARGE
    archive = get(f"/api/v4/projects/{kept['project']}/repository/archive.tar.gz").content
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        packed = next(member for member in tar.getmembers() if member.name.endswith("large.bin"))
        assert tar.extractfile(packed).read() == LARGE, "the archive holds the pointer"
    assert kinds() == {"artifacts", "uploads", "avatars", "lfs"}, kinds()
    assert all(name.startswith("forge/") for name in objects()), objects()


def remove(gl):
    with open(KEPT, encoding="utf-8") as file:
        kept = json.load(file)
    project = gl.projects.get(kept["project"])
    project.jobs.get(kept["job"]).erase()
    assert kinds() == {"uploads", "avatars", "lfs"}, kinds()
    trace = f"/api/v4/projects/{kept['project']}/jobs/{kept['job']}/trace"
    assert get(trace).content == b"", "the log of an erased job"
    path = f"{URL}/api/v4/projects/{kept['project']}"
    requests.put(path, json={"avatar": ""}, headers={"PRIVATE-TOKEN": TOKEN}, timeout=60).raise_for_status()
    assert kinds() == {"uploads", "lfs"}, kinds()
    project.delete()
    until = time.monotonic() + PATIENCE_SECONDS
    # What other projects may share is looked after once a day.
    while kinds() != {"lfs"}:
        assert time.monotonic() < until, objects()
        time.sleep(0.2)


if __name__ == "__main__":
    {"write": write, "read": read, "remove": remove}[sys.argv[1]](gitlab.Gitlab(URL, private_token=TOKEN))
