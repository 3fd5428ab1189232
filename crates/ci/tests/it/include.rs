//! Files that a configuration includes, and what they may cost.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use forgeway_ci::config::{
    IncludeKind, Plan, Refusal, compile,
    input::{Artifact, Fetch, FetchFailure, NoFiles, PipelineInput, Project},
    variables::{OuterVariables, Variable},
};
use kernel::Result;

use crate::files::Files;

/// One other project and one address, and how often it was asked.
#[derive(Default)]
struct Web {
    asked: Cell<usize>,
}

impl Fetch for Web {
    fn project(&self, path: &str, reference: Option<&str>) -> Result<Project<'_>> {
        self.asked.set(self.asked.get() + 1);
        Ok(match (path, reference) {
            ("group/shared", None | Some("v1")) => {
                let files = [
                    ("jobs/a.yml", "include: /jobs/b.yml\na: {script: a}"),
                    ("jobs/b.yml", "b: {script: b}"),
                ];
                Project::Found(Box::new(Files::of(&files)))
            }
            ("group/shared", _) => Project::NoReference,
            _ => Project::NotFound,
        })
    }

    fn remote(&self, address: &str) -> std::result::Result<String, FetchFailure> {
        self.asked.set(self.asked.get() + 1);
        match address {
            "https://forge.test/r.yml" => Ok("r: {script: r}".to_owned()),
            "https://forge.test/later.yml" => Err(FetchFailure::Pending),
            "https://forge.test/slow.yml" => Err(FetchFailure::Timeout),
            "https://10.0.0.1/r.yml" => {
                Err(FetchFailure::Refused("its host is not allowed".to_owned()))
            }
            _ => Err(FetchFailure::Status(404)),
        }
    }

    fn artifact(&self, _: &str, _: &str) -> Result<Artifact> {
        Ok(Artifact::NoParent)
    }
}

fn compiled(
    text: &str,
    files: &[(&str, &str)],
    fetch: &dyn Fetch,
) -> std::result::Result<Plan, Refusal> {
    let known = OuterVariables {
        beneath: vec![
            Variable::public("CI_COMMIT_BRANCH", "main"),
            Variable::public("DIR", "ci"),
            Variable::public("DEEP", "$DIR/deep$NONE"),
        ],
        above: Vec::new(),
    };
    let given = PipelineInput::push("main", "group/project", &known);
    compile(text, &PipelineInput { tree: &Files::of(files), fetch, ..given })
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.jobs.iter().map(|job| &*job.name).collect()
}

fn problem(text: &str, files: &[(&str, &str)]) -> String {
    match compiled(text, files, &Web::default()) {
        Ok(plan) => panic!("it is taken: {:?}", names(&plan)),
        Err(refusal) => refusal.sentence(),
    }
}

#[test]
fn a_wildcard_takes_files_in_the_order_of_their_names() {
    let files = [
        ("ci/b.yml", "b: {script: b}"),
        ("ci/a.yml", "a: {script: a}"),
        ("ci/x/c.yml", "c: {script: c}"),
    ];

    let flat = compiled("include: $DIR/*.yml", &files, &NoFiles).unwrap();
    let deep = compiled("include: {local: ci/**.yml}", &files, &NoFiles).unwrap();

    assert_eq!(names(&flat), ["a", "b"]);
    assert_eq!(names(&deep), ["a", "b", "c"]);
    assert_eq!(flat.includes[0].location, "ci/a.yml");
}

#[test]
fn variables_in_a_path_may_name_others() {
    let files = [("ci/deep/a.yml", "a: {script: a}")];

    let plan = compiled("include: $DEEP/a.yml", &files, &NoFiles).unwrap();
    let ruled = "include: {local: ci/deep/a.yml, rules: [{exists: [$DEEP/*.yml]}]}";

    assert_eq!(names(&plan), ["a"]);
    assert_eq!(names(&compiled(ruled, &files, &NoFiles).unwrap()), ["a"]);
}

#[test]
fn names_in_files_of_another_project_are_looked_up_there() {
    let text = "include: {project: group/shared, ref: v1, file: [jobs/a.yml]}";

    let plan = compiled(text, &[("jobs/b.yml", "other: {script: x}")], &Web::default()).unwrap();

    assert_eq!(names(&plan), ["b", "a"]);
    let kinds: Vec<_> = plan.includes.iter().map(|include| include.kind).collect();
    assert_eq!(kinds, [IncludeKind::File, IncludeKind::Local]);
}

#[test]
fn what_has_yet_to_be_fetched_keeps_no_other_file_from_being_asked_for() {
    let text = "include: ['https://forge.test/later.yml', 'https://forge.test/r.yml']";
    let web = Web::default();

    let plan = compiled(text, &[], &web).unwrap();

    assert_eq!((names(&plan), web.asked.get()), (vec!["r"], 2));
}

#[test]
fn rules_let_files_in_or_keep_them_out() {
    let files = [("a.yml", "a: {script: a}"), ("Dockerfile", "")];
    let included = |rules: &str| {
        let text = format!("include: {{local: a.yml, rules: {rules}}}\nb: {{script: b}}");
        names(&compiled(&text, &files, &NoFiles).unwrap()).len()
    };

    assert_eq!(included("[{if: '$CI_COMMIT_BRANCH == \"main\"'}]"), 2);
    assert_eq!(included("[{if: '$CI_COMMIT_BRANCH == \"other\"'}]"), 1);
    assert_eq!(included("[{exists: [Dockerfile]}]"), 2);
    assert_eq!(included("[{exists: [Makefile]}]"), 1);
    assert_eq!(included("[{if: $CI_COMMIT_BRANCH, when: never}]"), 1);
}

#[test]
fn what_cannot_be_had_is_told() {
    for (text, sentence) in [
        ("include: /no.yml", "Local file `no.yml` does not exist!"),
        ("include: no.txt", "Included file `no.txt` does not have YAML extension!"),
        ("include: {local: 5}", "Included file `5` needs to be a string"),
        ("include: {template: Rust.yml}", "Template file `Rust.yml` is not a valid location!"),
        ("include: {remote: r.yml}", "Remote file `r.yml` does not have a valid address!"),
        (
            "include: {project: group/shared, ref: v2, file: a.yml}",
            "Project `group/shared` reference `v2` does not exist!",
        ),
        (
            "include: https://forge.test/no.yml",
            "Remote file `https://forge.test/no.yml` could not be fetched because of HTTP code `404` error!",
        ),
        (
            "include: https://forge.test/slow.yml",
            "Remote file `https://forge.test/slow.yml` could not be fetched because of a timeout error!",
        ),
        (
            "include: https://10.0.0.1/r.yml",
            "Remote file `https://10.0.0.1/r.yml` could not be fetched because its host is not allowed!",
        ),
        (
            "include: {template: No.gitlab-ci.yml}",
            "Included file `No.gitlab-ci.yml` is empty or does not exist!",
        ),
        (
            "include: {artifact: a.yml, job: b}",
            "Including configs from artifacts is only allowed when triggering child pipelines",
        ),
    ] {
        assert_eq!(problem(text, &[]), sentence);
    }
}

#[test]
fn a_file_that_includes_itself_ends_at_the_limit() {
    let files = [("a.yml", "include: a.yml\na: {script: a}")];

    assert_eq!(problem("include: a.yml", &files), "Maximum of 150 nested includes are allowed!");
}

#[test]
fn files_that_double_themselves_come_to_an_end() {
    let files = [("a.yml", "include: [b.yml, b.yml]"), ("b.yml", "include: [a.yml, a.yml]")];

    assert_eq!(problem("include: a.yml", &files), "Maximum of 150 nested includes are allowed!");
}

#[test]
fn nothing_is_fetched_when_the_time_is_over() {
    let (web, known) = (Web::default(), OuterVariables::default());
    let over = Instant::now().checked_sub(Duration::from_secs(1));
    let given = PipelineInput {
        fetch: &web,
        deadline: over,
        ..PipelineInput::push("main", "group/project", &known)
    };

    let refusal = compile("include: https://forge.test/r.yml", &given).unwrap_err();

    assert_eq!(refusal.sentence(), "Request timed out when fetching configuration files.");
    assert_eq!(web.asked.get(), 0);
}

#[test]
fn what_is_masked_is_not_told_in_a_problem() {
    let secret = Variable { masked: true, ..Variable::secret("TOKEN", "s3cr3t-word") };
    let known = OuterVariables { beneath: vec![secret], above: Vec::new() };
    let web = Web::default();
    let given =
        PipelineInput { fetch: &web, ..PipelineInput::push("main", "group/project", &known) };

    let refusal = compile("include: 'https://forge.test/$TOKEN.yml'", &given).unwrap_err();

    assert!(!refusal.sentence().contains("s3cr3t"), "{}", refusal.sentence());
}

#[test]
fn of_masked_values_that_overlap_nothing_is_told() {
    let values = [("SHORT", "abcdefgh1"), ("LONG", "abcdefgh12345"), ("TAIL", "45.y")];
    let hidden =
        values.map(|(key, value)| Variable { masked: true, ..Variable::secret(key, value) });
    let known = OuterVariables { beneath: hidden.into(), above: Vec::new() };

    let refusal =
        compile("include: $LONG.yml", &PipelineInput::push("main", "group/project", &known))
            .unwrap_err();

    let sentence = format!("Local file `{}ml` does not exist!", "x".repeat(15));
    assert_eq!(refusal.sentence(), sentence);
}
