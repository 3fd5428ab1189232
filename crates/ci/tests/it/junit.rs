//! Every file in `tests/cases/junit`, and the suite that it makes.

use std::{fmt::Write as _, fs, path::Path};

use forgeway_ci::report::junit::{Case, CaseStatus, Limits, Suite};
use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/junit");

fn shown(suite: &Suite) -> Value {
    json!({
        "total_time": suite.total_time(),
        "total_count": suite.total_count(),
        "success_count": suite.count(CaseStatus::Success),
        "failed_count": suite.count(CaseStatus::Failed),
        "skipped_count": suite.count(CaseStatus::Skipped),
        "error_count": suite.count(CaseStatus::Error),
        "suite_error": suite.error(),
        "test_cases": suite.cases().into_iter().map(shown_case).collect::<Vec<_>>(),
    })
}

fn shown_case(case: &Case) -> Value {
    json!({
        "status": case.status,
        "name": case.name,
        "classname": case.classname,
        "file": case.file,
        "execution_time": case.execution_time,
        "system_output": case.system_output,
        "stack_trace": null,
    })
}

#[test]
fn every_file_makes_the_suite_that_it_should() {
    let (mut report, mut count) = (String::new(), 0);
    let mut files: Vec<_> =
        fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let case: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let mut suite = Suite::new("job");
        suite.read(&*fs::read(Path::new(file).with_extension("xml")).unwrap(), &Limits::default());
        if shown(&suite) != case["expect"] {
            let (is, should) = (shown(&suite), &case["expect"]);
            writeln!(report, "{}\n  is     {is}\n  should {should}", file.display()).unwrap();
        }
        count += 1;
    }
    assert_eq!(count, 22);
    assert!(report.is_empty(), "\n{report}");
}
