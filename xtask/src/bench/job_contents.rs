//! Very many logs that are written at once, and a large artifact: the server's memory does not depend on either.

use std::{io::Read as _, thread, time::Instant};

use anyhow::{Result, ensure};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::json;

use super::{
    memory::{self, Memory},
    runners::{JOBS_OF_PIPELINE, Note, Size, make_pipeline, project_of_jobs, runner_of, take},
};
use crate::{
    client::Client,
    runner::Job,
    server::{Installation, Server},
};

/// Bytes of a piece of a log, and pieces of each.
const PIECE: usize = 16 << 10;
const PIECES: usize = 16;
/// Requests at the same time.
const WRITERS: usize = 16;
/// Megabytes: more than the artifact has.
const LARGEST_ARTIFACT: u64 = 10_000;
const BLOCK: usize = 1 << 20;

pub(super) fn measure(
    installation: &Installation,
    server: &Server,
    size: Size,
) -> Result<Vec<Note>> {
    let client = installation.client();
    let project = project_of_jobs(&client, "contents", JOBS_OF_PIPELINE)?;
    let runner = runner_of(installation, project, "r_contents")?;
    // One more, for the artifact.
    for _ in 0..(size.logs + 1).div_ceil(JOBS_OF_PIPELINE) {
        make_pipeline(&client, project)?;
    }
    let jobs = (0..size.logs).map(|_| take(&runner)).collect::<Result<Vec<_>>>()?;
    let mut notes = logs(server, &jobs)?;
    notes.extend(artifact(&client, server, &take(&runner)?, size.artifact)?);
    Ok(notes)
}

fn mebibytes(bytes: usize) -> Result<f64> {
    Ok(f64::from(u32::try_from(bytes >> 10)?) / 1024.0)
}

/// All logs grow by turns, so that all are open at any time.
fn logs(server: &Server, jobs: &[Job]) -> Result<Vec<Note>> {
    let begun = Instant::now();
    let (took, memory) = memory::around(server, || {
        thread::scope(|scope| {
            let share = jobs.len().div_ceil(WRITERS);
            let all: Vec<_> =
                jobs.chunks(share).map(|some| scope.spawn(move || write(some))).collect();
            all.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| Ok(())))
        })?;
        Ok(begun.elapsed().as_secs_f64())
    })?;
    for job in jobs {
        job.succeed(PIECE * PIECES)?.ensure(200, "the end of a job")?;
    }
    let rate = mebibytes(jobs.len() * PIECE * PIECES)? / took;
    Ok(vec![
        ("logs written at once", format!("{} of 256 KiB, {rate:.0} MiB a second", jobs.len())),
        ("memory beside them", memory.to_string()),
    ])
}

fn write(jobs: &[Job]) -> Result<()> {
    let line = "a line of a log, as long as lines of logs are in the middle of the day\n";
    let piece: Vec<u8> = line.bytes().cycle().take(PIECE).collect();
    for number in 0..PIECES {
        for job in jobs {
            job.write(number * PIECE, &piece)?.ensure(202, "a piece of a log")?;
        }
    }
    Ok(())
}

fn artifact(client: &Client, server: &Server, job: &Job, size: u64) -> Result<Vec<Note>> {
    let limit = json!({ "max_artifacts_size": LARGEST_ARTIFACT });
    client.put("/application/settings", &limit)?.json()?;
    let mut random = StdRng::seed_from_u64(1);
    let block: Vec<u8> =
        (0..BLOCK / 8).flat_map(|_| random.random::<u64>().to_le_bytes()).collect();
    let (up, beside_up) = timed(server, || {
        let content = Blocks { block: &block, at: 0 }.take(size);
        job.upload(content)?.ensure(201, "the artifact")
    })?;
    let (down, beside_down) = timed(server, || {
        let fetched = job.fetch()?;
        ensure!(fetched == size, "{fetched} bytes of {size} came back");
        Ok(())
    })?;
    job.succeed(0)?.ensure(200, "the end of a job")?;
    let megabytes = size / 1_000_000;
    Ok(vec![
        ("artifact brought", format!("{megabytes} MB in {up:.1} s")),
        ("memory beside it", beside_up.to_string()),
        ("artifact fetched", format!("{megabytes} MB in {down:.1} s")),
        ("memory beside that", beside_down.to_string()),
    ])
}

fn timed(server: &Server, work: impl FnOnce() -> Result<()>) -> Result<(f64, Memory)> {
    memory::around(server, || {
        let begun = Instant::now();
        work()?;
        Ok(begun.elapsed().as_secs_f64())
    })
}

/// A block again and again.
struct Blocks<'b> {
    block: &'b [u8],
    at: usize,
}

impl std::io::Read for Blocks<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.block[self.at..];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.at = (self.at + length) % self.block.len();
        Ok(length)
    }
}
