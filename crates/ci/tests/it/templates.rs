//! Every template can be included, and makes what it says.

use forgeway_ci::config::{
    compile,
    input::{NoFiles, PipelineInput, RefKind},
    templates,
    variables::{OuterVariables, Variable},
};

use crate::files::Files;

/// The jobs of a pipeline that includes a template, and has one job of its own.
fn jobs(template: &str, kind: RefKind) -> Vec<String> {
    let text = format!("include:\n- template: {template}.gitlab-ci.yml\nown: {{script: x}}\n");
    let name = match kind {
        RefKind::Branch => "CI_COMMIT_BRANCH",
        RefKind::Tag => "CI_COMMIT_TAG",
        RefKind::MergeRequest => "CI_MERGE_REQUEST_IID",
    };
    let beneath =
        vec![Variable::public("CI_DEFAULT_BRANCH", "main"), Variable::public(name, "main")];
    let known = OuterVariables { beneath, above: Vec::new() };
    let tree = Files::of(&[("Dockerfile", "FROM scratch")]);
    let given = PipelineInput::push("main", "group/project", &known);
    let plan =
        compile(&text, &PipelineInput { ref_kind: kind, tree: &tree, fetch: &NoFiles, ..given });
    let plan = plan.unwrap_or_else(|refusal| panic!("{template}: {refusal:?}"));
    assert_eq!(plan.warnings, Vec::<String>::new(), "{template}");
    plan.jobs.iter().map(|job| job.name.to_string()).collect()
}

#[test]
fn every_template_adds_jobs_or_says_which_pipelines_there_are() {
    for template in templates::names() {
        let jobs = jobs(template, RefKind::Branch);

        let begins = template.starts_with("Workflows/");
        assert_eq!(jobs.len() == 1, begins, "{template}: {jobs:?}");
    }
}

#[test]
fn templates_can_be_included_beside_one_another() {
    let names = ["Rust", "Go", "Jobs/Code-Quality", "Workflows/MergeRequest-Pipelines"];
    let includes: String =
        names.iter().map(|name| format!("- template: {name}.gitlab-ci.yml\n")).collect();
    let known = OuterVariables {
        beneath: vec![
            Variable::public("CI_DEFAULT_BRANCH", "main"),
            Variable::public("CI_COMMIT_BRANCH", "main"),
        ],
        above: Vec::new(),
    };

    let text = format!("include:\n{includes}");
    let plan = compile(&text, &PipelineInput::push("main", "group/project", &known)).unwrap();

    let jobs: Vec<&str> = plan.jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(jobs, ["compile", "rust-lint", "rust-test", "format", "code_quality"]);
}
