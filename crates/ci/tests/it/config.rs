//! Every configuration in `tests/cases/config`, with what it is given and what must come of it.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use forgeway_ci::{
    config::{
        Kind, Plan, PlannedJob, Refusal, compile,
        input::{EnvironmentIdentity, NoFiles, PipelineInput, RefKind},
        variables::{OuterVariables, ScopedVariable, Variable},
    },
    pipeline::Source,
};
use kernel::TextEnum as _;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::files::Files;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/config");

#[derive(Deserialize)]
struct Case {
    about: String,
    given: CaseInput,
    expect: Expectation,
}

#[derive(Deserialize)]
#[serde(default)]
struct CaseInput {
    #[serde(rename = "ref")]
    reference: String,
    tag: bool,
    source: String,
    changes: Option<Vec<String>>,
    files: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    project_variables: BTreeMap<String, String>,
}

impl Default for CaseInput {
    fn default() -> Self {
        Self {
            reference: "main".to_owned(),
            tag: false,
            source: "push".to_owned(),
            changes: None,
            files: BTreeMap::new(),
            variables: BTreeMap::new(),
            project_variables: BTreeMap::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Expectation {
    /// One of these sentences is said.
    Refused { errors: Vec<String>, r#match: String, kind: String },
    Planned {
        jobs: Vec<Value>,
        stages: Vec<String>,
        #[serde(default)]
        warnings: Vec<String>,
    },
}

/// What the server would know before a pipeline is made.
fn known(given: &CaseInput, kind: RefKind) -> OuterVariables {
    let mut beneath = vec![
        Variable::public("CI_DEFAULT_BRANCH", "main"),
        Variable::public("CI_COMMIT_REF_NAME", &*given.reference),
        Variable::public("CI_PIPELINE_SOURCE", &*given.source),
        Variable::public("CI_PROJECT_PATH", "group/project"),
    ];
    beneath.push(match kind {
        RefKind::Branch => Variable::public("CI_COMMIT_BRANCH", &*given.reference),
        RefKind::Tag => Variable::public("CI_COMMIT_TAG", &*given.reference),
        RefKind::MergeRequest => Variable::public("CI_MERGE_REQUEST_IID", "1"),
    });
    let layer = |variables: &BTreeMap<String, String>| -> Vec<ScopedVariable> {
        variables.iter().map(|(k, v)| ScopedVariable::everywhere(Variable::secret(k, v))).collect()
    };
    OuterVariables {
        beneath,
        above: vec![layer(&given.project_variables), layer(&given.variables)],
    }
}

fn compiled(text: &str, given: &CaseInput) -> std::result::Result<Plan, Refusal> {
    let ref_kind = match (&*given.source, given.tag) {
        ("merge_request_event", _) => RefKind::MergeRequest,
        (_, true) => RefKind::Tag,
        _ => RefKind::Branch,
    };
    compile(
        text,
        &PipelineInput {
            source: Source::find(&given.source).unwrap_or(Source::Push),
            ref_kind,
            changes: given.changes.as_deref(),
            tree: &Files(given.files.clone()),
            fetch: &NoFiles,
            ..PipelineInput::push(&given.reference, "group/project", &known(given, ref_kind))
        },
    )
}

fn shown(plan: &Plan, job: &PlannedJob) -> Value {
    let variables: serde_json::Map<_, _> =
        job.variables.iter().map(|one| (one.key.to_string(), json!(*one.value))).collect();
    let needs =
        job.needs.as_ref().map(|needs| needs.iter().map(|need| need.name.clone()).collect());
    let needs: Option<Vec<String>> = needs;
    json!({
        "name": *job.name,
        "stage": plan.stages[job.stage],
        "when": job.when,
        "allow_failure": job.allow_failure,
        "needs": needs.filter(|_| job.kind == Kind::Build || job.options.bridge_needs.is_none()),
        "tags": job.tags,
        "environment": job.environment.as_ref().map(|environment| &environment.written.name),
        "interruptible": job.interruptible,
        "variables": variables,
        "options": *job.own_options(),
    })
}

/// Every difference between what came and what should have.
fn differences(case: &Case, outcome: std::result::Result<Plan, Refusal>) -> Vec<String> {
    match (&case.expect, outcome) {
        (Expectation::Planned { jobs, stages, warnings }, Ok(plan)) => {
            let mut found = Vec::new();
            let ours: Vec<Value> = plan.jobs.iter().map(|job| shown(&plan, job)).collect();
            if ours != *jobs {
                found.push(format!("jobs\n  are    {}\n  should {}", json!(ours), json!(jobs)));
            }
            if plan.stages != *stages {
                found.push(format!("stages are {:?}, should be {stages:?}", plan.stages));
            }
            let warned = plan.warnings.len() == warnings.len()
                && plan.warnings.iter().zip(warnings).all(|(ours, text)| ours.starts_with(text));
            if !warned {
                found.push(format!("warnings are {:?}, should be {warnings:?}", plan.warnings));
            }
            found
        }
        (Expectation::Refused { errors, r#match, kind }, Err(refusal)) => {
            let said = match &refusal {
                Refusal::Invalid(problems) | Refusal::Unmet(problems) => problems.clone(),
                other => vec![other.sentence()],
            };
            let fits = |ours: &String| {
                errors.iter().any(|text| match r#match.as_str() {
                    "equal" => ours == text,
                    "prefix" => ours.starts_with(text),
                    _ => ours.contains(text),
                })
            };
            let of_kind = match kind.as_str() {
                "empty" => matches!(refusal, Refusal::Empty(_)),
                "filtered" => matches!(refusal, Refusal::Filtered),
                _ => refusal.is_kept(),
            };
            if said.iter().any(fits) && of_kind {
                return Vec::new();
            }
            vec![format!("says {said:?}, should say {errors:?} ({kind})")]
        }
        (Expectation::Planned { .. }, Err(refusal)) => vec![format!("is refused: {refusal:?}")],
        (Expectation::Refused { errors, .. }, Ok(_)) => {
            vec![format!("makes a pipeline, should say {errors:?}")]
        }
    }
}

#[test]
fn every_configuration_comes_to_what_it_should() {
    let (mut report, mut count) = (String::new(), 0);
    let mut files: Vec<_> =
        fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let case: Case = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let text = fs::read_to_string(Path::new(file).with_extension("yml")).unwrap();
        for difference in differences(&case, compiled(&text, &case.given)) {
            writeln!(report, "{:?} ({}): {difference}", file.file_stem().unwrap(), case.about)
                .unwrap();
        }
        count += 1;
    }
    assert!(count > 250, "{count}");
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn a_job_knows_its_image_and_its_environment_before_it_is_made() {
    let known = OuterVariables::default();
    let identity =
        |name: &str| EnvironmentIdentity { slug: format!("{name}-slug"), tier: "other".to_owned() };
    let given = PipelineInput {
        environment: identity,
        ..PipelineInput::push("main", "group/project", &known)
    };
    let text = "ship:\n  script: x\n  image: alpine:3\n  tags: [$CI_JOB_IMAGE, $CI_ENVIRONMENT_URL, $CI_ENVIRONMENT_TIER]\n  resource_group: $CI_ENVIRONMENT_SLUG\n  environment: {name: prod-$CI_COMMIT_BRANCH, url: 'https://$CI_ENVIRONMENT_SLUG.test', deployment_tier: production}\n  rules: [{if: '$CI_ENVIRONMENT_NAME == \"prod-\"'}]\n";

    let plan = compile(text, &given).unwrap();

    let job = &plan.jobs[0];
    assert_eq!(job.resource_group.as_deref(), Some("prod--slug"));
    let tags = ["alpine:3", "https://prod--slug.test", "production"];
    assert_eq!(job.tags.as_deref().unwrap(), tags);
}

/// A variable of the project for jobs of one environment.
fn scoped(key: &str, value: &str, environment: &str) -> ScopedVariable {
    let variable = Variable::secret(key, value);
    ScopedVariable { variable, environment_scope: environment.to_owned() }
}

#[test]
fn variables_of_the_rule_that_fits_reach_all_that_follows_from_variables() {
    let above = vec![vec![scoped("LEVEL", "high", "review/prod")]];
    let known = OuterVariables { beneath: Vec::new(), above };
    let given = PipelineInput::push("main", "group/project", &known);
    let text = "ship:\n  script: x\n  variables: {WHERE: job}\n  environment: review/$WHERE\n  resource_group: grp-$WHERE\n  tags: [$WHERE, $CI_ENVIRONMENT_NAME, $LEVEL]\n  cache: {paths: [b], key: {files: [lock], prefix: $WHERE}}\n  rules: [{if: '$WHERE == \"job\"', variables: {WHERE: prod}}]\n";

    let plan = compile(text, &given).unwrap();

    let job = &plan.jobs[0];
    assert_eq!(job.environment.as_ref().unwrap().name, "review/prod");
    assert_eq!(job.resource_group.as_deref(), Some("grp-prod"));
    assert_eq!(job.tags.as_deref().unwrap(), ["prod", "review/prod", "high"]);
    assert_eq!(job.options.cache.as_ref().unwrap()[0].key, "prod-default");
}

#[test]
fn variables_that_name_others_are_written_out_but_compared_as_they_are() {
    let beneath = vec![Variable::public("CI_PROJECT_NAME", "engine")];
    let domain = Variable::secret("DOMAIN", "$CI_PROJECT_NAME.test");
    let above = vec![vec![ScopedVariable::everywhere(domain)]];
    let known = OuterVariables { beneath, above };
    let files = Files::of(&[("Dockerfile", "")]);
    let given =
        PipelineInput { tree: &files, ..PipelineInput::push("main", "group/project", &known) };
    let text = "variables: {N: $D$NO, D: Dockerfile, RAW: {value: $D, expand: false}}\nworkflow: {name: in $DOMAIN}\nship:\n  script: x\n  environment: prod/$DOMAIN\n  resource_group: on $DOMAIN\n  tags: [$N, $RAW, $NO]\n  rules: [{if: '$N == \"$D$NO\"', exists: [$N]}]\n";

    let plan = compile(text, &given).unwrap();

    let job = &plan.jobs[0];
    assert_eq!(plan.name.as_deref(), Some("in engine.test"));
    assert_eq!(job.environment.as_ref().unwrap().name, "prod/engine.test");
    assert_eq!(job.resource_group.as_deref(), Some("on engine.test"));
    assert_eq!(job.tags.as_deref().unwrap(), ["Dockerfile", "$D", "$NO"]);
}

#[test]
fn circles_that_a_rule_or_an_environment_closes_are_refused() {
    let above = vec![vec![scoped("A", "$B", "prod")]];
    let known = OuterVariables { beneath: Vec::new(), above };
    let given = PipelineInput::push("main", "group/project", &known);
    let text = "by_rule: {script: x, variables: {A: $B}, rules: [{if: $A, variables: {B: $A}}]}\nelsewhere: {script: x, variables: {B: $A}}\nthere: {script: x, environment: prod, variables: {B: $A}}\n";

    let Refusal::Unmet(problems) = compile(text, &given).unwrap_err() else { panic!("no problem") };

    let sentence = "circular variable reference detected: [\"B\", \"A\"]";
    assert_eq!(problems, ["by_rule", "there"].map(|job| format!("{job}: {sentence}")));
}
