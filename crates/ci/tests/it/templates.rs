//! Every template can be included, and makes what it says.

use forgeway_ci::config::{
    Plan, compile,
    input::{NoFiles, PipelineInput, RefKind},
    templates,
    variables::{OuterVariables, Variable},
};

use crate::files::Files;

/// What templates look for in a commit.
const FILES: [(&str, &str); 9] = [
    ("Cargo.lock", ""),
    ("Cargo.toml", "[package]"),
    ("Dockerfile", "FROM scratch"),
    ("app/build.js", ""),
    ("chart/Chart.yaml", ""),
    ("lib/one.rb", ""),
    ("load-test.js", ""),
    ("main.go", ""),
    ("main.tf", ""),
];

/// What switches on the jobs of templates that need to be told something.
const TOLD: [&str; 9] = [
    "CI_AWS_CF_CREATE_STACK_FILE",
    "DAST_API_OPENAPI",
    "DAST_WEBSITE",
    "FUZZAPI_OPENAPI",
    "KUBECONFIG",
    "MIGRATE_HELM_2TO3",
    "STAGING_ENABLED",
    "URL",
    "a11y_urls",
];

/// The jobs of a pipeline that includes a template, and has one job of its own.
fn jobs(template: &str, kind: RefKind) -> Vec<String> {
    let own = "own: {script: x, rules: [{if: $CI_DEFAULT_BRANCH}]}";
    jobs_of(&format!("include:\n- template: {template}.gitlab-ci.yml\n{own}\n"), kind)
}

fn jobs_of(text: &str, kind: RefKind) -> Vec<String> {
    plan_of(text, kind).jobs.iter().map(|job| job.name.to_string()).collect()
}

fn plan_of(text: &str, kind: RefKind) -> Plan {
    let name = match kind {
        RefKind::Branch => "CI_COMMIT_BRANCH",
        RefKind::Tag => "CI_COMMIT_TAG",
        RefKind::MergeRequest => "CI_MERGE_REQUEST_IID",
    };
    let told = TOLD.map(|name| Variable::public(name, "https://example.com"));
    let mut beneath = told.to_vec();
    beneath.extend([Variable::public("CI_DEFAULT_BRANCH", "main"), Variable::public(name, "main")]);
    let known = OuterVariables { beneath, above: Vec::new() };
    let tree = Files::of(&FILES);
    let given = PipelineInput::push("main", "group/project", &known);
    let plan =
        compile(text, &PipelineInput { ref_kind: kind, tree: &tree, fetch: &NoFiles, ..given });
    let plan = plan.unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
    assert_eq!(plan.warnings, Vec::<String>::new(), "{text}");
    plan
}

/// Templates without jobs for a branch: they say which pipelines there are, are there to build on, for merge requests, or for
/// who names no site.
fn is_without_jobs(template: &str) -> bool {
    template.starts_with("Workflows/")
        || template.ends_with("Base")
        || matches!(
            template,
            "Jobs/DAST-Default-Branch-Deploy" | "Security/Coverage-Fuzzing" | "Verify/FailFast"
        )
}

#[test]
fn every_template_adds_jobs_or_says_which_pipelines_there_are() {
    for template in templates::names() {
        let jobs = jobs(template, RefKind::Branch);

        assert_eq!(jobs.len() == 1, is_without_jobs(template), "{template}: {jobs:?}");
    }
}

#[test]
fn every_template_compiles_for_tags_and_merge_requests() {
    for template in templates::names() {
        jobs(template, RefKind::Tag);
        // This one wants no pipelines for merge requests.
        if template != "Workflows/Branch-Pipelines" {
            jobs(template, RefKind::MergeRequest);
        }
    }
    let jobs = jobs("Verify/FailFast", RefKind::MergeRequest);
    assert_eq!(jobs, ["rspec-rails-modified-path-specs", "own"]);
}

#[test]
fn scanners_have_the_names_that_people_change_and_switch_off() {
    for (template, job, switch) in [
        ("Jobs/SAST", "semgrep-sast", "SAST_DISABLED"),
        ("Security/SAST", "semgrep-sast", "SAST_DISABLED"),
        ("Jobs/SAST-IaC.latest", "kics-iac-sast", "SAST_DISABLED"),
        ("Security/Secret-Detection", "secret_detection", "SECRET_DETECTION_DISABLED"),
        ("Jobs/Dependency-Scanning", "trivy-dependency_scanning", "DEPENDENCY_SCANNING_DISABLED"),
        ("Jobs/Container-Scanning.latest", "container_scanning", "CONTAINER_SCANNING_DISABLED"),
        ("Jobs/License-Scanning", "license_scanning", "LICENSE_MANAGEMENT_DISABLED"),
        ("Security/DAST", "dast", "DAST_DISABLED"),
        ("Security/DAST-API", "dast_api", "DAST_API_DISABLED"),
        ("Security/API-Fuzzing", "apifuzzer_fuzz", "API_FUZZING_DISABLED"),
    ] {
        let text = format!(
            "include: {{template: {template}.gitlab-ci.yml}}\n{job}: {{tags: [big]}}\nown: {{script: x}}\n"
        );
        assert!(jobs_of(&text, RefKind::Branch).contains(&job.to_owned()), "{template}");
        let off = format!("{text}variables: {{{switch}: \"true\"}}\n");
        assert_eq!(jobs_of(&off, RefKind::Branch), ["own"], "{template}");
    }
}

#[test]
fn jobs_have_the_names_that_people_change() {
    for (template, job) in [
        ("Android.latest", "assembleDebug"),
        ("Kaniko", "kaniko-build"),
        ("OpenTofu.latest", "plan"),
        ("Security/DAST-On-Demand-Scan", "dast"),
        ("Terraform.latest", "deploy"),
        ("dotNET-Core", "tests"),
        ("npm", "publish"),
    ] {
        let text =
            format!("include: {{template: {template}.gitlab-ci.yml}}\n{job}: {{tags: [big]}}\n");
        assert!(jobs_of(&text, RefKind::Branch).contains(&job.to_owned()), "{template}");
    }
    for site in templates::names().filter(|name| name.starts_with("Pages/")) {
        assert!(jobs(site, RefKind::Branch).contains(&"pages".to_owned()), "{site}");
    }
}

#[test]
fn templates_to_build_on_have_the_jobs_that_people_extend() {
    for (template, job) in [
        ("OpenTofu/Base.latest", ".opentofu:apply"),
        ("OpenTofu/Base.latest", ".opentofu:delete-state"),
        ("Terraform/Base", ".terraform:fmt"),
        ("Terraform/Base", ".terraform:validate"),
        ("Terraform/Base", ".terraform:build"),
        ("Terraform/Base.latest", ".terraform:deploy"),
        ("Terraform/Base.latest", ".terraform:destroy"),
        ("Terraform/Module-Base", ".terraform-module:fmt"),
        ("Terraform/Module-Base", ".terraform-module:deploy"),
    ] {
        let stages = "stages: [validate, build, deploy, cleanup]";
        let text = format!(
            "include: {{template: {template}.gitlab-ci.yml}}\n{stages}\nown: {{extends: {job}}}\n"
        );
        assert_eq!(jobs_of(&text, RefKind::Branch), ["own"], "{job}");
    }
}

#[test]
fn variables_of_a_configuration_take_the_place_of_those_of_its_templates() {
    for (template, job, name) in [
        ("Jobs/Container-Scanning", "container_scanning", "CS_IMAGE"),
        ("Jobs/Dependency-Scanning", "trivy-dependency_scanning", "DS_EXCLUDED_PATHS"),
        ("Jobs/SAST", "semgrep-sast", "SAST_EXCLUDED_PATHS"),
        ("Pages/SwaggerUI", "pages", "DOCS_FOLDER"),
        ("Terraform", "build", "TF_ROOT"),
    ] {
        let text = format!(
            "include: {{template: {template}.gitlab-ci.yml}}\nvariables: {{{name}: mine}}\n"
        );
        let plan = plan_of(&text, RefKind::Branch);
        let job = plan.jobs.iter().find(|planned| &*planned.name == job).unwrap();
        let variable = job.variables.iter().find(|variable| &*variable.key == name);
        assert_eq!(variable.map(|variable| &*variable.value), Some("mine"), "{template}");
    }
}

#[test]
fn a_site_to_attack_is_deployed_where_none_is_named() {
    let text = "include: {template: Jobs/DAST-Default-Branch-Deploy.gitlab-ci.yml}\nvariables: {DAST_WEBSITE: ''}\n";

    let jobs = jobs_of(text, RefKind::Branch);

    assert_eq!(jobs, ["dast_environment_deploy", "stop_dast_environment"]);
}

#[test]
fn templates_are_found_without_their_folder_and_in_their_newest_form() {
    for (name, full) in [
        ("API-Fuzzing.latest", "Security/API-Fuzzing"),
        ("Accessibility", "Verify/Accessibility"),
        ("Android.latest", "Android"),
        ("Hugo", "Pages/Hugo"),
        ("Terraform.latest", "Terraform"),
    ] {
        assert!(templates::find(name).is_some(), "{name}");
        assert_eq!(templates::find(name), templates::find(full), "{name}");
    }
    for name in ["", "../Rust", "Build", "Rust.latest"] {
        assert_eq!(templates::find(name), None, "{name}");
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

#[test]
fn auto_devops_does_what_the_build_files_ask_for() {
    let known = OuterVariables {
        beneath: vec![Variable::public("CI_COMMIT_BRANCH", "main")],
        above: Vec::new(),
    };
    let text = templates::find(templates::AUTO_DEVOPS).unwrap();
    for file in templates::BUILD_FILES {
        let tree = Files::of(&[(file, "x")]);
        let given = PipelineInput::push("main", "group/project", &known);
        let plan = compile(text, &PipelineInput { tree: &tree, fetch: &NoFiles, ..given });
        assert!(plan.is_ok_and(|plan| !plan.jobs.is_empty()), "{file}");
    }
}
