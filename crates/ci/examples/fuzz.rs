//! Judges documents that nobody would write: `cargo run --release -p forgeway-ci --example fuzz -- 10000000 [first seed]`.
//!
//! Ends with the first panic, whose seed it prints; says every hundred thousand documents how far it is, and at the end
//! which one took longest.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{
    env,
    panic::catch_unwind,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use forgeway_ci::config::{
    dry_run,
    given::Given,
    lint,
    variables::{Known, Variable},
};

#[path = "../tests/it/generator.rs"]
mod generator;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/config");
const STEP: u64 = 100_000;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let count: u64 = arguments.next().map_or(Ok(STEP), |text| text.parse())?;
    let first: u64 = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let generator = generator::Generator::of(Path::new(FOLDER))?;
    let (mut sound, mut slowest) = (0_u64, (Duration::ZERO, 0));
    let start = Instant::now();
    for seed in first..first.saturating_add(count) {
        let text = generator.document(seed);
        let began = Instant::now();
        let Ok(valid) = catch_unwind(|| judge(&text)) else {
            println!("seed {seed} panics:\n{text}");
            return Ok(ExitCode::FAILURE);
        };
        sound += u64::from(valid);
        slowest = slowest.max((began.elapsed(), seed));
        if (seed + 1 - first).is_multiple_of(STEP) {
            println!("{} documents in {:.0?}", seed + 1 - first, start.elapsed());
        }
    }
    let (longest, seed) = slowest;
    println!(
        "{count} documents, {sound} of them sound, no panic, {:.0?}; the slowest took {longest:.1?} (seed {seed})",
        start.elapsed()
    );
    Ok(ExitCode::SUCCESS)
}

fn judge(text: &str) -> bool {
    let known = Known {
        beneath: vec![Variable::public("A", "x"), Variable::public("B", "$A")],
        above: Vec::new(),
    };
    let given = Given::push("main", "group/project", &known);
    let tried = dry_run(text, &given).is_ok_and(|lint| lint.is_valid());
    let sound = lint(text, &given).is_ok_and(|lint| lint.is_valid());
    assert!(sound || !tried, "a pipeline of a configuration that is not sound");
    sound
}
