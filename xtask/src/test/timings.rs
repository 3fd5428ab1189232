//! The duration of each test.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    process::{Command, ExitStatus, Stdio},
};

use anyhow::{Context as _, Result};

/// How many of the slowest tests and modules are shown.
const SHOWN: usize = 30;

/// A test with its seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Time {
    program: String,
    test: String,
    seconds: f64,
}

/// Runs a test program and notes the time of each test.
///
/// The test harness tells times under an option that is not stable yet. It takes such options with `RUSTC_BOOTSTRAP` in the
/// environment: that concerns this run alone, nothing is compiled with it.
pub(super) fn run(tests: &mut Command, program: &str, times: &mut Vec<Time>) -> Result<ExitStatus> {
    tests.args(["-Z", "unstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
    let mut running = tests.stdout(Stdio::piped()).spawn()?;
    let output = running.stdout.take().context("a program without an output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        match time(program, &line) {
            Some(time) => times.push(time),
            None => println!("{line}"),
        }
    }
    Ok(running.wait()?)
}

/// `test rest::issues::a_name ... ok <0.123s>`; `None` for any other line, that of a failed test too.
fn time(program: &str, line: &str) -> Option<Time> {
    let (test, end) = line.strip_prefix("test ")?.split_once(" ... ok <")?;
    let seconds = end.strip_suffix("s>")?.parse().ok()?;
    Some(Time { program: program.to_owned(), test: test.to_owned(), seconds })
}

pub(super) fn report(times: &[Time]) {
    if times.is_empty() {
        return;
    }
    println!(
        "\nTimes of tests that ran beside others, in seconds. The slowest of {}:\n",
        times.len()
    );
    let tests = times.iter().map(|one| (format!("{} {}", one.program, one.test), one.seconds));
    show(tests.collect());
    println!("\nThe modules whose tests take the longest together:\n");
    let mut modules: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    for one in times {
        let module = one.test.rsplit_once("::").map_or("", |(module, _)| module);
        let sum = modules.entry(format!("{} {module}", one.program)).or_default();
        *sum = (sum.0 + one.seconds, sum.1 + 1);
    }
    let modules = modules.into_iter();
    show(modules.map(|(name, (seconds, count))| (format!("{name} ({count})"), seconds)).collect());
    let all: f64 = times.iter().map(|one| one.seconds).sum();
    println!("\n{all:9.2}  all {} tests", times.len());
}

fn show(mut rows: Vec<(String, f64)>) {
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (name, seconds) in rows.iter().take(SHOWN) {
        println!("{seconds:9.2}  {name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_stands_behind_the_result() {
        let read = time("it", "test rest::jobs::stops ... ok <1.250s>").unwrap();

        assert_eq!((read.test.as_str(), read.seconds), ("rest::jobs::stops", 1.25));
        assert_eq!(time("it", "test a ... FAILED <1.250s>"), None);
        assert_eq!(time("it", "running 3 tests"), None);
    }
}
