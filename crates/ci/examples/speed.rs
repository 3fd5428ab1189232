//! Measures how long a large configuration takes: `cargo run --release -p forgeway-ci --example speed -- [jobs]`.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{
    env,
    fmt::Write as _,
    time::{Duration, Instant},
};

use forgeway_ci::config::{
    compile,
    input::PipelineInput,
    variables::{OuterVariables, Variable},
};

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs: usize = env::args().nth(1).map_or(Ok(2000), |text| text.parse())?;
    let text = configuration(jobs)?;
    let known = OuterVariables {
        beneath: vec![Variable::public("CI_COMMIT_BRANCH", "main")],
        above: Vec::new(),
    };
    let given = PipelineInput::push("main", "group/project", &known);
    let mut times: Vec<Duration> = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let plan = compile(&text, &given).map_err(|refusal| refusal.sentence())?;
        times.push(began.elapsed());
        assert_eq!(plan.jobs.len(), jobs);
    }
    times.sort();
    println!(
        "{jobs} jobs, {} bytes: {:.1?} (median of {ROUNDS}), at best {:.1?}",
        text.len(),
        times[ROUNDS / 2],
        times[0]
    );
    Ok(())
}

/// Jobs as people write them: a template, a rule, variables, artifacts, and a need each.
fn configuration(jobs: usize) -> Result<String, std::fmt::Error> {
    let mut text = "stages: [build, test]\n\
        .base:\n  image: rust:1\n  before_script: [rustc --version]\n  cache: {key: $CI_COMMIT_REF_SLUG, paths: [target]}\n"
        .to_owned();
    for job in 0..jobs {
        let (stage, needs) = match job % 2 {
            0 => ("build", String::new()),
            _ => ("test", format!("  needs: [job-{}]\n", job - 1)),
        };
        write!(
            text,
            "job-{job}:\n  extends: .base\n  stage: {stage}\n  script:\n    - make part-{job}\n    - make check\n\
             {needs}  variables: {{PART: \"{job}\", MODE: fast}}\n  tags: [linux]\n\
             \x20 rules:\n    - if: $CI_COMMIT_BRANCH =~ /^(main|release-.*)$/\n    - if: $CI_PIPELINE_SOURCE == \"web\"\n      when: manual\n\
             \x20 artifacts: {{paths: [out/{job}], expire_in: 1 week}}\n"
        )?;
    }
    Ok(text)
}
