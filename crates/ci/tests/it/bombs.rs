//! Small files that mean much: each ends soon, with a sentence. Nothing here is measured by a clock; without its bound a
//! test would not end at all, or take all memory.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use forgeway_ci::config::{
    compile, dry_run,
    input::PipelineInput,
    variables::{OuterVariables, Variable},
};

use crate::{files::Files, world::jobs};

const TOO_BIG: &str = "The parsed YAML is too big";

fn problem(text: &str) -> String {
    let known = OuterVariables::default();
    match compile(text, &PipelineInput::push("main", "group/project", &known)) {
        Ok(plan) => format!("{} jobs", plan.jobs.len()),
        Err(refusal) => refusal.sentence(),
    }
}

#[test]
fn aliases_that_double_themselves_are_too_big() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(text, "a{level}: &a{level} [{inner}]").unwrap();
    }

    assert_eq!(problem(&text), TOO_BIG);
}

#[test]
fn what_lies_too_deep_is_too_big() {
    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let text = format!("a: {}{}", open.repeat(50_000), close.repeat(50_000));
        assert_eq!(problem(&text), TOO_BIG);
    }
    assert_eq!(problem(&"- ".repeat(50_000)), TOO_BIG);
}

#[test]
fn a_text_of_more_than_two_mebibytes_is_too_big() {
    assert_eq!(problem(&format!("a: {{script: {}}}", "x".repeat(3 << 20))), TOO_BIG);
}

#[test]
fn variables_that_double_themselves_are_too_big() {
    let doubled = |level: usize| format!("  V{level}: $V{0}$V{0}\n", level - 1);
    let all: String = (1..60).map(doubled).collect();

    let text = format!("variables:\n  V0: ''\n{all}a: {{script: x, tags: [$V59]}}\n");

    assert_eq!(problem(&text), TOO_BIG);
}

#[test]
fn a_long_value_in_many_texts_is_too_big() {
    let value = format!("variables: {{B: {}}}\n", "x".repeat(60_000));
    let rule = format!("{{exists: [{}]}}", vec!["$B-0"; 50].join(", "));
    let rules = format!("a: {{script: x, rules: [{}]}}", [rule.as_str(); 12].join(", "));
    let mut tagged = String::new();
    for job in 0..12 {
        let tags = vec!["k-$B"; 50].join(", ");
        writeln!(tagged, "j{job}: {{script: x, tags: [{tags}]}}").unwrap();
    }
    let mut reviewed = String::new();
    for job in 0..600 {
        writeln!(reviewed, "j{job}: {{script: x, environment: review/$B}}").unwrap();
    }

    for jobs in [rules, tagged, reviewed] {
        assert_eq!(problem(&format!("{value}{jobs}")), TOO_BIG);
    }
}

#[test]
fn a_chain_of_values_is_written_out_or_too_big() {
    let chain = |length: usize| {
        let names = |level: usize| format!("  V{level}: $V{}\n", level - 1);
        let all: String = (1..=length).map(names).collect();
        format!("variables:\n  V0: end\n{all}a: {{script: x, tags: [$V{length}]}}\n")
    };
    let known = OuterVariables::default();
    let given = PipelineInput::push("main", "group/project", &known);

    let plan = compile(&chain(150), &given).unwrap();

    assert_eq!(plan.jobs[0].tags.as_deref(), Some(&["end".to_owned()][..]));
    assert_eq!(problem(&chain(1500)), TOO_BIG);
}

#[test]
fn no_pattern_of_a_path_is_made_ready_when_the_time_is_over() {
    let (known, files) = (OuterVariables::default(), Files::of(&[("Makefile", "")]));
    let given = PipelineInput {
        tree: &files,
        deadline: Instant::now().checked_sub(Duration::from_secs(1)),
        ..PipelineInput::push("main", "group/project", &known)
    };
    let late = "Request timed out when fetching configuration files.";

    let rule = compile("a: {script: x, rules: [{exists: ['M*']}]}", &given).unwrap_err();
    let include = compile("include: '*.none'\na: {script: x}", &given).unwrap_err();

    assert_eq!(rule.sentence(), format!("Failed to parse rule for a: {late}"));
    assert_eq!(include.sentence(), late);
}

/// A reference costs the configuration a line, and its job a megabyte.
fn large_job(stage: &str, references: usize) -> String {
    let text = "\\x01".repeat(200_000);
    let script = "    - !reference [.s]\n".repeat(references);
    format!(".s: [\"{text}\"]\na:\n  stage: {stage}\n  script:\n{script}")
}

const TOO_LARGE: &str = "jobs:a config should be smaller than 7 MiB";

#[test]
fn a_job_is_no_larger_than_what_an_archive_takes() {
    assert!(jobs(&large_job("test", 5)).is_ok());

    let refusal = jobs(&large_job("test", 7)).unwrap_err().to_string();

    assert!(refusal.contains(TOO_LARGE), "{refusal}");
}

#[test]
fn a_dry_run_refuses_the_large_job_that_no_pipeline_gets() {
    let known = OuterVariables::default();
    let given = PipelineInput::push("main", "group/project", &known);
    let errors = |stage, references| dry_run(&large_job(stage, references), &given).unwrap().errors;

    assert!(errors("test", 5).is_empty());
    assert_eq!(errors(".pre", 5), ["No stages / jobs for this pipeline."]);
    for stage in ["test", ".pre"] {
        assert_eq!(errors(stage, 7), [TOO_LARGE], "{stage}");
    }
}

#[test]
fn a_matrix_makes_no_more_than_its_share_of_jobs() {
    let values = format!("[{}]", vec!["x"; 1000].join(", "));
    let rows: Vec<String> = (0..20).map(|key| format!("V{key}: {values}")).collect();
    let text = format!("a: {{script: x, parallel: {{matrix: [{{{}}}]}}}}", rows.join(", "));

    let problem = problem(&text);

    assert!(problem.contains("generates too many jobs"), "{problem}");
}

#[test]
fn patterns_take_time_by_the_length_of_what_they_are_held_against() {
    let text = "a: {script: x, rules: [{if: '$A =~ /^(a+)+(a|a)*(a*)*$/'}]}";
    let known = OuterVariables {
        beneath: vec![Variable::public("A", format!("{}!", "a".repeat(50_000)))],
        above: Vec::new(),
    };

    let refusal = compile(text, &PipelineInput::push("main", "group/project", &known)).unwrap_err();

    assert_eq!(refusal.sentence(), "No stages / jobs for this pipeline.");
}

#[test]
fn globs_take_time_by_the_length_of_what_they_are_held_against() {
    let pattern = format!("{}b", "*a".repeat(200));
    let deep = "**/".repeat(200);
    let paths: Vec<String> = vec!["a".repeat(10_000), "a/".repeat(2000)];
    let known = OuterVariables::default();
    for pattern in [pattern, format!("{deep}b"), "{a,".repeat(200)] {
        let text = format!("a: {{script: x, rules: [{{changes: ['{pattern}']}}]}}");
        let given = PipelineInput {
            changes: Some(&paths),
            ..PipelineInput::push("main", "group/project", &known)
        };

        assert!(compile(&text, &given).is_err(), "{pattern}");
    }
}

#[test]
fn a_job_that_extends_much_is_written_out_only_so_often() {
    let keys: String = (0..2000).map(|key| format!("    K{key}: {}\n", "x".repeat(100))).collect();
    let mut text = format!(".base:\n  script: x\n  variables:\n{keys}");
    for job in 0..3000 {
        writeln!(text, "j{job}: {{extends: .base}}").unwrap();
    }

    assert_eq!(problem(&text), TOO_BIG);
}
