//! Says which jobs a push and a tag would run: `cargo run -p forgeway-ci --example plan_pipeline`.
//!
//! The configuration stands in the program; `lint` reads one from a folder.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use forgeway_ci::config::{
    Plan, compile,
    input::PipelineInput,
    variables::{OuterVariables, Variable},
};

const CONFIGURATION: &str = "
build:
  stage: build
  script: make
test:
  stage: test
  script: make test
  rules:
    - if: $CI_COMMIT_BRANCH == 'main'
";

fn main() -> Result<(), String> {
    let (on_main, on_topic) = (jobs("main")?, jobs("topic")?);
    println!("main: {}", on_main.join(", "));
    println!("topic: {}", on_topic.join(", "));
    assert_eq!(on_main, ["build", "test"]);
    assert_eq!(on_topic, ["build"]);
    Ok(())
}

fn jobs(branch: &str) -> Result<Vec<String>, String> {
    let beneath = vec![Variable::public("CI_COMMIT_BRANCH", branch)];
    let known = OuterVariables { beneath, above: Vec::new() };
    let given = PipelineInput::push(branch, "company/shop", &known);
    let plan: Plan = compile(CONFIGURATION, &given).map_err(|refusal| refusal.sentence())?;
    Ok(plan.jobs.iter().map(|job| job.name.to_string()).collect())
}
