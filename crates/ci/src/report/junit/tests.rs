//! Files of tests, and what is read of them.

use super::{Limits, Suite};
use crate::report::packed::tests::pack;

fn error(xml: &str, limits: &Limits) -> String {
    let mut suite = Suite::new("job");
    suite.read(xml.as_bytes(), limits);
    suite.error().unwrap_or_default().to_owned()
}

#[test]
fn what_is_no_xml_is_told_with_its_place() {
    for (xml, message) in [
        ("\n x", "2:2: FATAL: Start tag expected, '<' not found"),
        ("<?xml version='1.0'?>", "1:22: FATAL: Start tag expected, '<' not found"),
        ("<a>\n<b>", "2:4: FATAL: Premature end of data in tag b line 2"),
        ("<a/><b/>", "1:5: FATAL: Extra content at the end of the document"),
        ("<a/></b>", "1:5: FATAL: Extra content at the end of the document"),
        ("<a>&nbsp;</a>", "1:10: FATAL: Entity 'nbsp' not defined"),
        ("<a>\u{1b}</a>", "1:5: FATAL: PCDATA invalid Char value 27"),
        ("<a>&#0;</a>", "1:8: FATAL: xmlParseCharRef: invalid xmlChar value 0"),
    ] {
        assert_eq!(error(xml, &Limits::default()), format!("JUnit XML parsing failed: {message}"));
    }
}

#[test]
fn a_file_has_an_end_in_size_depth_and_number() {
    let limits = Limits { bytes: 100, depth: 5, cases: 2, ..Limits::default() };

    let large = error(&format!("<a>{}</a>", "x".repeat(200)), &limits);
    let deep = error(&"<a>".repeat(6), &limits);
    let many = error(
        "<testsuite><testcase name='a'/><testcase name='b'/><testcase name='c'/></testsuite>",
        &limits,
    );

    assert_eq!(large, "JUnit data parsing failed: the file is larger than 100 bytes");
    assert_eq!(
        deep,
        "JUnit XML parsing failed: 1:19: FATAL: Excessive depth in document: 5 use XML_PARSE_HUGE option"
    );
    assert_eq!(many, "JUnit data parsing failed: number of test cases exceeded the limit of 2");
}

#[test]
fn nobody_declares_entities() {
    for bomb in [
        "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>",
        "<!DOCTYPE a [<!ENTITY % b SYSTEM \"file:///etc/passwd\"> %b;]><a/>",
    ] {
        let told = error(bomb, &Limits::default());
        assert!(told.ends_with("FATAL: Entity declarations are not allowed"), "{told}");
    }
    assert_eq!(error("<!DOCTYPE a SYSTEM 'a.dtd'><a/>", &Limits::default()), "");
}

#[test]
fn texts_are_cut_and_elements_counted() {
    let limits = Limits { text: 5, parts: 3, attributes: 2, ..Limits::default() };
    let mut suite = Suite::new("job");
    let xml =
        "<testsuite><testcase name='1234567'><failure>äöüäöü</failure></testcase></testsuite>";
    suite.read(xml.as_bytes(), &limits);
    let case = suite.cases()[0];
    assert_eq!((case.name.as_str(), case.system_output.clone()), ("12345", Some("äö".into())));

    let parts = error("<testsuite><testcase><a/><a/><a/><a/></testcase></testsuite>", &limits);
    assert_eq!(parts, "JUnit data parsing failed: a test case holds more than 3 elements");
    let attributes = error("<testsuite a='' b='' c=''/>", &limits);
    assert_eq!(attributes, "JUnit data parsing failed: an element has more than 2 attributes");
}

#[test]
fn all_files_of_a_report_share_their_size() {
    let file = "<testsuite><testcase name='a'/></testsuite>";
    let read = |bytes: u64| {
        let mut suite = Suite::new("job");
        suite.read_packed(pack(&[file, file]).as_slice(), &Limits { bytes, ..Limits::default() });
        (suite.total_count(), suite.error().map(str::to_owned))
    };

    assert_eq!(read(1_000), (1, None));
    let refusal = "JUnit data parsing failed: the file is larger than 50 bytes";
    assert_eq!(read(50), (0, Some(refusal.to_owned())));
    let mut plain = Suite::new("job");
    plain.read_packed(file.as_bytes(), &Limits::default());
    assert!(plain.error().is_some_and(|error| error.starts_with("JUnit data parsing failed")));
}

#[test]
fn a_failed_test_may_leave_a_file_behind() {
    let mut suite = Suite::new("job");
    let xml = "<testsuite><testcase name='a'><failure/><system-out>[[ATTACHMENT|shots/a.png]]</system-out></testcase></testsuite>";

    suite.read(xml.as_bytes(), &Limits::default());

    assert_eq!(suite.cases()[0].attachment.as_deref(), Some("shots/a.png"));
}

#[test]
fn a_bad_file_takes_away_what_others_said() {
    let mut suite = Suite::new("job");

    suite.read(
        "<testsuite><testcase name='a' time='1'/></testsuite>".as_bytes(),
        &Limits::default(),
    );
    let before = suite.total_count();
    suite.read("no".as_bytes(), &Limits::default());

    assert_eq!((before, suite.total_count(), suite.total_time()), (1, 0, 0.0));
}

#[test]
fn times_stay_within_bounds_one_by_one_and_together() {
    for (times, cases, total) in [
        (["1e305", "2"], [1e12, 2.0], 1e12),
        (["1e305", "1.7e308"], [1e12, 1e12], 1e12),
        (["-1e305", "-1e305"], [-1e12, -1e12], -1e12),
        (["1e305", "-1e305"], [1e12, -1e12], 0.0),
        (["1e999", "1.5"], [1.5, 0.0], 1.5),
    ] {
        let case = |(name, time)| format!("<testcase name='{name}' time='{time}'/>");
        let told: String = ["a", "b"].into_iter().zip(times).map(case).collect();
        let mut suite = Suite::new("job");

        suite.read(format!("<testsuite>{told}</testsuite>").as_bytes(), &Limits::default());

        let found: Vec<f64> = suite.cases().iter().map(|case| case.execution_time).collect();
        assert_eq!((found.as_slice(), suite.total_time()), (&cases[..], total), "{times:?}");
    }
}
