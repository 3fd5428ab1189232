//! Pipelines that come to a good end.

use serde_json::json;

use super::{Pipe, RunnerFixture, workshop::patiently};

const TWO_STAGES: &str = "\
stages: [build, test]
build:
  stage: build
  script: ['git log -1 --format=%s', 'echo built > out.txt', 'echo VERSION=1.2 > build.env']
  after_script: ['echo after $CI_JOB_STATUS']
  artifacts: {paths: [out.txt], reports: {dotenv: build.env}}
other:
  stage: build
  script: echo other > other.txt
  artifacts: {paths: [other.txt]}
test:
  stage: test
  dependencies: [build]
  script: ['cat out.txt', 'echo version $VERSION', 'test ! -e other.txt']
";

#[actix_web::test]
async fn what_one_stage_makes_the_next_one_has() {
    let shop = RunnerFixture::open().await;

    assert_eq!(shop.run(TWO_STAGES, 3).await, "success");

    let build = shop.log("build").await;
    assert!(build.contains("\nSay hello\n") && build.contains("\nafter success\n"), "{build}");
    let test = shop.log("test").await;
    assert!(test.contains("\nbuilt\n") && test.contains("\nversion 1.2\n"), "{test}");
}

#[actix_web::test]
async fn a_commit_that_is_not_the_tip_any_more_is_what_its_pipeline_sees() {
    let shop = RunnerFixture::open().await;
    let pipe = Pipe::new(shop.folder.path());
    let gate =
        format!("gate: {{stage: build, script: 'echo on > {0}; read go < {0}'}}\n", pipe.path());
    let text = format!("{gate}late: {{stage: test, script: git rev-parse HEAD}}\n");

    let old = shop.push(&text).await;
    // From now on no newer pipeline cancels this one.
    let (_, heard) = pipe.hear().await;
    heard.rest().await;
    let new = shop.push("late: {script: git rev-parse HEAD, rules: [{when: manual}]}\n").await;
    let path = pipe.path().to_owned();
    patiently(move || std::fs::write(path, "go\n").expect("somebody waits")).await;
    shop.ended(2).await;

    let listed = shop.olga().get(&format!("/projects/{}/jobs?scope=success", shop.project)).await;
    let late =
        listed.ok().as_array().expect("jobs").iter().find(|job| job["name"] == "late").cloned();
    let shown = shop.olga().get(&format!("{}/trace", shop.path_of(&late.expect("a job")))).await;
    let log = String::from_utf8(shown.bytes).expect("text");
    assert!(log.contains(&format!("\n{old}\n")) && !log.contains(&new), "{log}");
}

#[actix_web::test]
async fn the_next_pipeline_finds_the_cache() {
    let shop = RunnerFixture::open().await;
    let text = |n: u32| {
        format!(
            "job:\n  script: ['cat kept || echo none', 'echo kept {n} > kept']\n  cache: {{key: k, paths: [kept]}}\n"
        )
    };

    shop.run(&text(1), 1).await;
    let first = shop.log("job").await;
    shop.run(&text(2), 2).await;
    let second = shop.log("job").await;

    assert!(first.contains("\nnone\n") && !first.contains("\nkept 1\n"), "{first}");
    assert!(second.contains("\nkept 1\n") && !second.contains("\nnone\n"), "{second}");
}

#[actix_web::test]
async fn a_job_that_fails_once_is_tried_again() {
    let shop = RunnerFixture::open().await;
    let mark = shop.folder.path().join("mark");
    let script = format!("test -e {0} || {{ touch {0}; exit 3; }}", mark.display());
    let text = format!("job:\n  script: '{script}'\n  retry: 1\n");

    assert_eq!(shop.run(&text, 2).await, "success");

    let path = format!("/projects/{}/jobs", shop.project);
    let all = shop.olga().get(&path).await;
    assert_eq!(all.each("status"), [json!("success"), json!("failed")]);
}

#[actix_web::test]
async fn a_masked_variable_is_in_no_log() {
    let shop = RunnerFixture::open().await;
    let variable = json!({ "key": "SECRET", "value": "hush-hush-hush", "masked": true });
    shop.olga().post(&format!("/projects/{}/variables", shop.project), variable).await.created();

    assert_eq!(
        shop.run("job: {script: 'echo it is $SECRET. $CI_JOB_TOKEN'}\n", 1).await,
        "success"
    );

    let log = shop.log("job").await;
    assert!(log.contains("\nit is [MASKED]. [MASKED]\n") && !log.contains("hush"), "{log}");
}
