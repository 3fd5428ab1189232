//! Judges documents that nobody would write:
//! `cargo run --release -p forgeway-ci --example fuzz -- --count 10000000 --seed 1 [--threads 2]`.
//!
//! The same seed makes the same document, so what is found once is found again: `--count 1 --seed N`. Ends with the first
//! panic, whose seed and document it prints; says now and then how far it is, and at the end which document took longest.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{
    env,
    error::Error,
    num::NonZero,
    panic::catch_unwind,
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use forgeway_ci::config::{
    compile, dry_run,
    input::PipelineInput,
    lint,
    variables::{OuterVariables, Variable},
};

#[path = "../tests/it/generator.rs"]
mod generator;

use generator::Generator;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/config");
/// Documents between two lines that say how far it is.
const STEP: u64 = 500_000;
/// Documents that a thread takes at a time.
const BATCH: u64 = 1_000;
/// Each document is compiled; one of so many is linted and tried, too, and has to come to the same.
const LINTED: u64 = 8;

struct Options {
    count: u64,
    seed: u64,
    threads: usize,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let mut options = Self { count: STEP, seed: 1, threads };
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--count" => options.count = value.parse()?,
                "--seed" => options.seed = value.parse()?,
                "--threads" => options.threads = value.parse()?,
                _ => return Err(format!("there is no option {word}").into()),
            }
        }
        Ok(options)
    }
}

/// What the threads share.
struct Run {
    generator: Generator,
    options: Options,
    taken: AtomicU64,
    done: AtomicU64,
    stopped: AtomicBool,
    begun: Instant,
}

/// What one thread found.
#[derive(Clone, Copy, Default)]
struct Tally {
    sound: u64,
    /// The longest time, and the seed that took it.
    slowest: (Duration, u64),
}

impl Tally {
    fn with(self, other: Self) -> Self {
        Self { sound: self.sound + other.sound, slowest: self.slowest.max(other.slowest) }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::read(env::args().skip(1))?;
    let run = Run {
        generator: Generator::of(Path::new(FOLDER))?,
        options,
        taken: AtomicU64::new(0),
        done: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        begun: Instant::now(),
    };
    let tally = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..run.options.threads.max(1)).map(|_| scope.spawn(|| run.work())).collect();
        threads.into_iter().try_fold(Tally::default(), |sum, one| Some(sum.with(one.join().ok()??)))
    });
    let Some(Tally { sound, slowest: (longest, seed) }) = tally else {
        return Ok(ExitCode::FAILURE);
    };
    println!(
        "{} documents, {sound} of them sound, no panic, {:.0?}; the slowest took {longest:.1?} (seed {seed})",
        run.options.count,
        run.begun.elapsed()
    );
    Ok(ExitCode::SUCCESS)
}

impl Run {
    /// Judges batch after batch; `None` once somebody has found a panic.
    fn work(&self) -> Option<Tally> {
        let mut tally = Tally::default();
        while !self.stopped.load(Ordering::Relaxed) {
            let from = self.taken.fetch_add(BATCH, Ordering::Relaxed);
            if from >= self.options.count {
                return Some(tally);
            }
            let to = (from + BATCH).min(self.options.count);
            for seed in from..to {
                self.one(self.options.seed.wrapping_add(seed), &mut tally)?;
            }
            self.tell(to - from);
        }
        None
    }

    fn one(&self, seed: u64, tally: &mut Tally) -> Option<()> {
        let text = self.generator.document(seed);
        let begun = Instant::now();
        let Ok(is_sound) = catch_unwind(|| judge(&text, seed.is_multiple_of(LINTED))) else {
            self.stopped.store(true, Ordering::Relaxed);
            println!("seed {seed} panics:\n{text}");
            return None;
        };
        tally.sound += u64::from(is_sound);
        tally.slowest = tally.slowest.max((begun.elapsed(), seed));
        Some(())
    }

    fn tell(&self, judged: u64) {
        let before = self.done.fetch_add(judged, Ordering::Relaxed);
        let after = before + judged;
        if before / STEP != after / STEP {
            println!("{after} documents in {:.0?}", self.begun.elapsed());
        }
    }
}

/// Whether the document makes a plan.
fn judge(text: &str, linted: bool) -> bool {
    let known = OuterVariables {
        beneath: vec![Variable::public("A", "x"), Variable::public("B", "$A")],
        above: Vec::new(),
    };
    let given = PipelineInput::push("main", "group/project", &known);
    let plans = compile(text, &given).is_ok();
    if linted {
        let tried = dry_run(text, &given).is_ok_and(|lint| lint.is_valid());
        assert_eq!(plans, tried, "a plan and a dry run differ");
        let is_sound = lint(text, &given).is_ok_and(|lint| lint.is_valid());
        assert!(is_sound || !plans, "a plan of a configuration that is not sound");
    }
    plans
}
