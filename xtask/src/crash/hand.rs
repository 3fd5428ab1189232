//! Does one job after the other as a runner that never gives up.

use std::{
    cell::Cell,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use ureq::http::Method;

use super::runner::{Book, Done, REST};
use crate::client::{Answer, Client};

const LINES: usize = 120;

/// One of those who do its jobs.
pub(super) struct Hand {
    pub(super) client: Client,
    pub(super) token: String,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) book: Arc<Mutex<Book>>,
}

impl Hand {
    fn stops(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn write(&self, job: i64, change: impl FnOnce(&mut Done)) {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        change(book.jobs.entry(job).or_default());
    }

    pub(super) fn work(&self) {
        while !self.stops() {
            if let Some(job) = self.take() {
                if let Err(finding) = self.perform(&job) {
                    let told = format!("job {}: {finding:#}", job["id"]);
                    self.book.lock().unwrap_or_else(PoisonError::into_inner).findings.push(told);
                }
            } else {
                std::thread::sleep(REST);
            }
        }
    }

    /// A job whose handing over was acknowledged; the server may be away, or have none.
    fn take(&self) -> Option<Value> {
        let features = json!({ "refspecs": true, "upload_multiple_artifacts": true });
        let ask = json!({ "token": self.token, "system_id": "r_crash", "info": { "features": features } });
        let answer = self.client.post("/jobs/request", &ask).ok()?;
        (answer.status == 201).then(|| answer.json().ok())?
    }

    fn perform(&self, job: &Value) -> Result<()> {
        let id = job["id"].as_i64().context("a job without an id")?;
        let token = job["token"].as_str().context("a job without a token")?;
        self.write(id, |done| done.taken += 1);
        let log: String = (0..LINES).map(|line| format!("line {line} of job {id}\n")).collect();
        let artifact = archive(&log);
        self.write(id, |done| done.log = log.clone().into_bytes());
        self.log(id, token, &log)?;
        let own = format!("/jobs/{id}/artifacts?artifact_type=archive&artifact_format=zip");
        let head =
            "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"out.zip\"\r\n\r\n";
        let body = [head.as_bytes(), &artifact, b"\r\n--edge--\r\n"].concat();
        let kind = "multipart/form-data; boundary=edge";
        let brought =
            self.insist(|| self.send(Method::POST, &own, token, &[("Content-Type", kind)], &body));
        if brought.status != 201 {
            bail!("its artifact was refused: {}", brought.told());
        }
        self.write(id, |done| done.artifact = artifact);
        self.end(id, token, &log)
    }

    /// Writes the log, from wherever the server says that it has it.
    fn log(&self, id: i64, token: &str, log: &str) -> Result<()> {
        let own = format!("/jobs/{id}/trace");
        let mut sent = 0;
        while sent < log.len() {
            let piece = &log.as_bytes()[sent..(sent + 97).min(log.len())];
            let range = format!("{sent}-{}", sent + piece.len() - 1);
            let headers = [("Content-Range", range.as_str()), ("Content-Type", "text/plain")];
            let answer = self.insist(|| self.send(Method::PATCH, &own, token, &headers, piece));
            match (answer.status, stored(&answer)) {
                (202, _) => sent += piece.len(),
                (416, Some(stored)) if stored <= log.len() => sent = stored,
                _ => bail!("a piece of its log was refused: {}", answer.told()),
            }
        }
        Ok(())
    }

    /// Tells the end, with all of the log where the server has lost some of it.
    fn end(&self, id: i64, token: &str, log: &str) -> Result<()> {
        let own = format!("/jobs/{id}");
        let body = json!({ "state": "success", "output": { "bytesize": log.len() } }).to_string();
        let mut lost = 0;
        loop {
            let tries = Cell::new(0_u32);
            let headers = [("Content-Type", "application/json")];
            let answer = self.insist(|| {
                tries.set(tries.get() + 1);
                self.send(Method::PUT, &own, token, &headers, body.as_bytes())
            });
            let is_ended = answer.header("job-status") == Some("success");
            match answer.status {
                200 => break,
                // An earlier one arrived, and its answer did not.
                403 if tries.get() > 1 && is_ended => break,
                412 if lost < 10 => {
                    lost += 1;
                    self.log(id, token, log)?;
                }
                _ => bail!("its end was refused: {}", answer.told()),
            }
        }
        self.write(id, |done| done.ended = true);
        Ok(())
    }

    fn send(
        &self,
        method: Method,
        path: &str,
        token: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer> {
        let all: Vec<(&str, &str)> =
            headers.iter().copied().chain([("JOB-TOKEN", token)]).collect();
        self.client.exchange(method, path, &all, body)
    }

    /// Tries until the server is there and answers.
    fn insist(&self, call: impl Fn() -> Result<Answer>) -> Answer {
        loop {
            match call() {
                Ok(answer) if answer.status < 500 => return answer,
                _ => std::thread::sleep(REST),
            }
        }
    }
}

/// How much of a log the server has.
fn stored(answer: &Answer) -> Option<usize> {
    answer.header("range")?.strip_prefix("0-")?.parse().ok()
}

/// A ZIP archive with one empty file; the text before it makes each archive another one.
fn archive(text: &str) -> Vec<u8> {
    let told: [u8; 26] =
        [20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0];
    let local = [text.as_bytes(), b"PK\x03\x04", &told, b"out"].concat();
    let place = u32::try_from(text.len()).unwrap_or_default().to_le_bytes();
    let central = [b"PK\x01\x02\x14\x03".as_slice(), &told, &[0; 10], &place, b"out"].concat();
    let sizes = [central.len(), local.len()].map(|size| u32::try_from(size).unwrap_or_default());
    let sizes = sizes.map(u32::to_le_bytes);
    let end =
        [b"PK\x05\x06\0\0\0\0\x01\0\x01\0".as_slice(), sizes.as_flattened(), &[0, 0]].concat();
    [local, central, end].concat()
}
