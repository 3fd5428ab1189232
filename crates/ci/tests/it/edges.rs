//! Configurations at the edges of the language: each sentence as people search for it.

use forgeway_ci::config::{compile, input::PipelineInput, lint, variables::OuterVariables};

use crate::files::Files;

/// A configuration with the one thing that is wrong with it.
const PROBLEMS: &[(&str, &str)] = &[
    ("a: {script: x, retry: 3}", "retry config must be less than or equal to 2"),
    ("a: {script: x, retry: two}", "retry config has to be either an integer or a hash"),
    ("a: {script: x, retry: {max: 1, when: nope}}", "retry when is not included in the list"),
    (
        "a: {script: x, retry: {max: 1, when: [always, nope]}}",
        "retry when contains unknown values: nope",
    ),
    ("a: {script: x, retry: {maximum: 1}}", "retry config contains unknown keys: maximum"),
    ("a: {script: x, retry: -1}", "retry config must be greater than or equal to 0"),
    ("a: {script: x, retry: {max: 5}}", "retry max must be less than or equal to 2"),
    (
        "a: {script: x, only: {variables: [\"$A =\"]}}",
        "jobs:a:only variables invalid expression syntax",
    ),
    ("a: {script: x, only: {branch: [main]}}", "jobs:a:only config contains unknown keys: branch"),
    ("a: {script: x, only: 5}", "jobs:a:only has to be either an array of conditions or a hash"),
    (
        "a: {script: x, when: never}",
        "jobs:a when should be one of: on_success, on_failure, always, manual, delayed",
    ),
    ("a: {script: x, when: delayed}", "jobs:a start in should be a duration"),
    (
        "a: {script: x, when: delayed, start_in: 8 days}",
        "jobs:a start in should not exceed the limit",
    ),
    ("a: {script: x, start_in: 1 day}", "jobs:a start in must be blank"),
    (
        "a: {script: x, allow_failure: maybe}",
        "jobs:a allow failure should be a hash or a boolean value",
    ),
    (
        "a: {script: x, allow_failure: {codes: 1}}",
        "jobs:a:allow_failure config contains unknown keys: codes",
    ),
    ("a: {script: x, timeout: a day}", "jobs:a:timeout config should be a duration"),
    ("a: {script: x, timeout: 2 months}", "jobs:a:timeout config should not exceed the limit"),
    ("a: {script: x, timeout: never}", "jobs:a:timeout config should be a duration"),
    (
        "a: {script: x, artifacts: {path: [a]}}",
        "jobs:a:artifacts config contains unknown keys: path",
    ),
    (
        "a: {script: x, artifacts: {paths: a}}",
        "jobs:a:artifacts paths should be an array of strings",
    ),
    (
        "a: {script: x, artifacts: {paths: [a], expire_in: sometime}}",
        "jobs:a:artifacts expire in should be a duration",
    ),
    (
        "a: {script: x, artifacts: {paths: [a], when: never}}",
        "jobs:a:artifacts when should be one of: on_success, on_failure, always",
    ),
    (
        "a: {script: x, artifacts: {reports: {nope: a}}}",
        "jobs:a:artifacts:reports config contains unknown keys: nope",
    ),
    (
        "a: {script: x, artifacts: {reports: {junit: 5}}}",
        "jobs:a:artifacts:reports junit should be an array of strings or a string",
    ),
    (
        "a: {script: x, cache: [{paths: [a]},{paths: [a]},{paths: [a]},{paths: [a]},{paths: [a]}]}",
        "jobs:a:caches config no more than 4 caches can be created",
    ),
    (
        "a: {script: x, cache: {paths: [a], policy: both}}",
        "jobs:a:cache policy should be a variable or one of: pull-push, push, pull",
    ),
    (
        "a: {script: x, cache: {paths: [a], when: never}}",
        "jobs:a:cache when should be one of: on_success, on_failure, always",
    ),
    (
        "a: {script: x, cache: {paths: [a], key: {files: [a,b,c]}}}",
        "jobs:a:cache:key:files config has too many items (maximum is 2)",
    ),
    ("a: {script: x, cache: {path: [a]}}", "jobs:a:cache config contains unknown keys: path"),
    (
        "a: {script: x, environment: {name: p, action: go}}",
        "jobs:a:environment action should be start, stop, prepare, verify, or access",
    ),
    ("a: {script: x, environment: {url: \"https://x\"}}", "jobs:a:environment name can't be blank"),
    (
        "a: {script: x, environment: {name: \"a*b\"}}",
        "jobs:a:environment name can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
    ),
    ("a: {script: x, environment: {name: p, on_stop: zz}}", "a job: on_stop job zz is not defined"),
    (
        "a: {script: x, environment: {name: p, on_stop: b}}\nb: {script: x}",
        "a job: on_stop job b does not have environment defined",
    ),
    (
        "a: {script: x, environment: {name: p, on_stop: b}}\nb: {script: x, environment: {name: q, action: stop}}",
        "a job: on_stop job b have different environment name",
    ),
    (
        "a: {script: x, environment: {name: p, on_stop: b}}\nb: {script: x, environment: {name: p}}",
        "a job: on_stop job b needs to have action stop defined",
    ),
    (
        "a: {script: x, environment: {name: p, deployment_tier: nope}}",
        "jobs:a:environment deployment tier must be one of production, staging, testing, development, other",
    ),
    (
        "a: {script: x, environment: {name: p, foo: 1}}",
        "jobs:a:environment config contains unknown keys: foo",
    ),
    ("a: {script: x, environment: {name: p, url: 5}}", "jobs:a:environment url should be a string"),
    ("a: {trigger: g/p, image: x}", "jobs:a config contains unknown keys: image"),
    ("a: {trigger: 5}", "jobs:a:trigger has to be either a string or a hash"),
    (
        "a: {trigger: {include: [a.yml,b.yml,c.yml,d.yml]}}",
        "jobs:a:trigger:include config is too long (maximum is 3)",
    ),
    ("a: {trigger: g/p, parallel: 3}", "jobs:a:parallel config cannot use \"parallel: <number>\"."),
    (
        "a: {trigger: {project: g/p, forward: {yaml_variables: maybe}}}",
        "jobs:a:trigger:forward yaml variables should be a boolean value",
    ),
    (
        "a: {trigger: {project: g/p, forward: {foo: true}}}",
        "jobs:a:trigger:forward config contains unknown keys: foo",
    ),
    ("a: {trigger: {project: g/p, foo: 1}}", "jobs:a:trigger config contains unknown keys: foo"),
    ("a: {script: x, tags: q}", "jobs:a:tags config should be an array of strings"),
    (
        "a: {script: x, coverage: abc}",
        "jobs:a:coverage config must be a regular expression with re2 syntax",
    ),
    (
        "a: {script: x, coverage: \"/(?=x)/\"}",
        "jobs:a:coverage config must be a regular expression with re2 syntax",
    ),
    ("a: {script: x, image: [q]}", "jobs:a:image config should be a hash or a string"),
    ("a: {script: x, services: {name: q}}", "jobs:a:services config should be a array"),
    ("a: {script: x, resource_group: 5}", "jobs:a resource group should be a string"),
    ("a: {script: x, foo: 1, bar: 2}", "jobs:a config contains unknown keys: foo, bar"),
    ("Build-It: {script: x, foo: 1}", "jobs:build-it config contains unknown keys: foo"),
    (
        "workflow: {rules: [{if: $CI, when: manual}]}\na: {script: x}",
        "workflow:rules:rule when unknown value: manual",
    ),
    ("workflow: {foo: 1}\na: {script: x}", "workflow config contains unknown keys: foo"),
    (
        "workflow: {auto_cancel: {on_new_commit: nope}}\na: {script: x}",
        "workflow:auto_cancel on new commit must be one of: conservative, interruptible, none",
    ),
    ("default: {foo: 1}\na: {script: x}", "default config contains unknown keys: foo"),
    (
        "default: {image: q}\nimage: r\na: {script: x}",
        "default config image is defined in top-level and `default:` entry",
    ),
    ("a: {script: x, inherit: {foo: true}}", "jobs:a:inherit config contains unknown keys: foo"),
    (
        "variables: {A: {value: q, options: [r]}}\na: {script: x}",
        "variables:a config value must be present in options",
    ),
    (
        "variables: {A: [q]}\na: {script: x}",
        "variable definition must be either a string or a hash",
    ),
    ("workflow: {name: ''}\na: {script: x}", "workflow name is too short (minimum is 1 character)"),
    (
        "a: {script: x, needs: [{pipeline: $P, job: b},{pipeline: $P, job: c},{pipeline: $P, job: d},{pipeline: $P, job: e},{pipeline: $P, job: f},{pipeline: $P, job: g}]}",
        "jobs:a:needs config must be less than or equal to 5",
    ),
    (
        "a: {script: x, cache: {paths: [a], key: a/b}}",
        "jobs:a:cache:key config cannot contain the \"/\" character",
    ),
    (
        "a: {script: x, cache: {paths: [a], key: a%2Fb}}",
        "jobs:a:cache:key config cannot contain the \"/\" character",
    ),
    (
        "a: {script: x, cache: {paths: [a], key: '..'}}",
        "jobs:a:cache:key config cannot be \".\" or \"..\"",
    ),
    ("a: {script: x, needs: [a]}", "The pipeline has circular dependencies: self-dependency: a"),
    (
        "a: {script: x, needs: [c]}\nb: {script: x, needs: [a]}\nc: {script: x, needs: [b]}",
        "The pipeline has circular dependencies: topological sort failed: [\"a\", \"c\", \"b\"]",
    ),
    ("b: {extends: [.a, .c], script: x}", "b: unknown keys in `extends` (.a, .c)"),
    (".a: 5\nb: {extends: .a, script: x}", "b: invalid base hashes in `extends` (.a)"),
    (".a: {script: x}", "jobs config should contain at least one visible job"),
    ("  ", "Please provide content of .gitlab-ci.yml"),
];

/// A configuration with its jobs.
const SOUND: &[(&str, &[&str])] = &[
    ("a: {script: x, retry: {max: 1, exit_codes: [137]}}", &["a"]),
    ("a: {script: x, when: delayed, start_in: 1 week}", &["a"]),
    ("a: {script: x, artifacts: {paths: [a], expire_in: NEVER}}", &["a"]),
    (
        "a: {script: x, artifacts: {reports: {coverage_report: {coverage_format: cobertura, path: a.xml}}}}",
        &["a"],
    ),
    ("a: {script: x, environment: {name: p, kubernetes: {namespace: q}}}", &["a"]),
    ("a: {trigger: g/p}", &["a"]),
    ("a: {trigger: {project: g/p, strategy: mirror}}", &["a"]),
    ("a: {trigger: g/p, parallel: {matrix: [{V: [1,2]}]}}", &["a: [1]", "a: [2]"]),
    (
        "a: {trigger: {project: g/p, forward: {yaml_variables: false, pipeline_variables: true}}}",
        &["a"],
    ),
    ("a: {trigger: g/p, when: always}", &["a"]),
    ("a: {needs: {pipeline: g/p}}", &["a"]),
    (
        "a: {script: x, release: {tag_name: v1, description: d, name: n, ref: main, milestones: [m], released_at: \"2021-03-15T08:00:00Z\", assets: {links: [{name: n, url: \"https://x/y\"}]}}}",
        &["a"],
    ),
    ("a: {script: x, id_tokens: {T: {aud: https://x}, U: {aud: [p, q]}}}", &["a"]),
    ("a: {script: x, secrets: {P: {vault: production/db/password, file: false}}}", &["a"]),
    (
        "a: {script: x, secrets: {P: {vault: {engine: {name: kv-v2, path: ops}, path: production/db, field: password}}}}",
        &["a"],
    ),
    ("a: {script: x, hooks: {pre_get_sources_script: [y]}}", &["a"]),
    ("a: {script: x, variables: {A: {value: \"$B\", expand: false}}}", &["a"]),
];

#[test]
fn every_problem_has_its_sentence() {
    let known = OuterVariables { beneath: Vec::new(), above: Vec::new() };
    let given = PipelineInput::push("main", "group/project", &known);
    for (text, sentence) in PROBLEMS {
        let told = lint(text, &given).expect("an answer");

        assert_eq!(told.errors, [*sentence], "{text}");
    }
}

#[test]
fn a_job_has_at_most_fifty_tags() {
    let known = OuterVariables::default();
    let given = PipelineInput::push("main", "group/project", &known);
    let told = |count: usize| {
        let text = format!("a: {{script: x, tags: [{}]}}", vec!["t"; count].join(", "));
        lint(&text, &given).expect("an answer").errors
    };

    assert_eq!(told(50), Vec::<String>::new());
    assert_eq!(told(51), ["jobs:a:tags config must be less than the limit of 50 tags"]);
}

#[test]
fn a_tag_and_a_resource_group_have_at_most_255_letters_once_written_out() {
    let known = OuterVariables::default();
    let given = PipelineInput::push("main", "group/project", &known);
    let compiled = |length: usize| {
        let value = "é".repeat(length);
        let text = format!(
            "variables: {{B: {value}}}\na: {{script: x, tags: [t, $B]}}\nb: {{script: x, resource_group: $B}}"
        );
        compile(&text, &given).map_err(|refusal| refusal.sentence())
    };
    let fault = "is too long (maximum is 255 characters)";

    assert_eq!(compiled(255).unwrap().jobs.len(), 2);
    let sentence = format!("a: tag {fault}\nb: resource group {fault}");
    assert_eq!(compiled(256).unwrap_err(), sentence);
}

#[test]
fn a_ref_to_compare_with_has_to_be_there() {
    let known = OuterVariables::default();
    let given = PipelineInput::push("main", "group/project", &known);
    let text = "a: {script: x, rules: [{changes: {paths: [b], compare_to: gone}}]}";

    let refusal = compile(text, &given).unwrap_err();

    let sentence = "Failed to parse rule for a: rules:changes:compare_to is not a valid ref";
    assert_eq!(refusal.sentence(), sentence);
}

#[test]
fn what_is_allowed_is_taken() {
    let known = OuterVariables { beneath: Vec::new(), above: Vec::new() };
    let given = PipelineInput::push("main", "group/project", &known);
    for (text, names) in SOUND {
        let told = lint(text, &given).expect("an answer");

        assert_eq!(told.errors, Vec::<String>::new(), "{text}");
        let jobs: Vec<&str> = told.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(jobs, *names, "{text}");
    }
}

#[test]
fn a_prefix_of_a_cache_key_is_written_out_for_each_copy_of_a_job() {
    let known = OuterVariables { beneath: Vec::new(), above: Vec::new() };
    let files = Files::of(&[("lock", "1")]);
    let given =
        PipelineInput { tree: &files, ..PipelineInput::push("main", "group/project", &known) };
    let text = "a: {script: x, parallel: {matrix: [{OS: [linux, mac]}]}, variables: {EMPTY: ''}, \
        cache: [{paths: [b], key: {files: [lock], prefix: \"$OS-$CI_JOB_ID\"}}, {paths: [c], key: {files: [lock], prefix: $EMPTY}}]}";

    let plan = compile(text, &given).unwrap();

    let keys =
        |job: usize| plan.jobs[job].options.cache.iter().flatten().map(|cache| cache.key.clone());
    let state = keys(0).next_back().unwrap();
    assert!(keys(0).eq([format!("linux-$CI_JOB_ID-{state}"), state.clone()]));
    assert!(keys(1).eq([format!("mac-$CI_JOB_ID-{state}"), state]));
}

#[test]
fn keys_of_a_matrix_are_texts() {
    let known = OuterVariables { beneath: Vec::new(), above: Vec::new() };
    let given = PipelineInput::push("main", "group/project", &known);
    let text = "a: {script: x, parallel: {matrix: [{1: [b, c], '1': [d]}]}}";

    let plan = compile(text, &given).unwrap();

    let names: Vec<&str> = plan.jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(names, ["a: [d]"]);
}
