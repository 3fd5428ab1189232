//! Vulnerabilities, as reports and people make them.

use db::Tx;
use kernel::{Result, error::Kind, ids::PipelineId, page::PageRequest};
use security::{
    policy::{ReadVulnerabilities, UseVulnerabilities},
    vulnerability::{
        ChangeStore as _, Confidence, DismissalReason, Finding, HistoryStore as _, Identifier,
        ReportType, Severity, State, Step, Vulnerability, VulnerabilityFilter,
        VulnerabilityStore as _,
        actions::{Judgement, judge, list, read},
        last_change,
    },
};
use serde_json::json;

use crate::world::{World, test};

pub(crate) fn finding(title: &str) -> Finding {
    let (kind, value) = ("cve".to_owned(), format!("CVE-{title}"));
    Finding {
        uuid: format!("uuid of {title}"),
        report_type: ReportType::Sast,
        scanner_id: "semgrep".to_owned(),
        scanner_name: "Semgrep".to_owned(),
        scanner_vendor: Some("Semgrep Inc.".to_owned()),
        title: title.to_owned(),
        description: None,
        message: None,
        solution: None,
        severity: Severity::High,
        confidence: Confidence::Unknown,
        identifiers: vec![Identifier { kind, name: value.clone(), value, url: None }],
        location: json!({}),
        links: Vec::new(),
    }
}

/// The vulnerabilities of the first project, newest first.
fn all(tx: &mut Tx<'_>, world: &World) -> Result<Vec<Vulnerability>> {
    let grant = world.may::<ReadVulnerabilities>(world.developer)?;
    let filter = VulnerabilityFilter::default();
    Ok(list(tx, &grant, &filter, PageRequest::default())?.items)
}

fn one(tx: &mut Tx<'_>, world: &World) -> Result<Vulnerability> {
    tx.save_finding(world.project, PipelineId(1), &finding("a"))?;
    Ok(all(tx, world)?.remove(0))
}

fn judgement(step: Step) -> Judgement {
    Judgement { step, reason: Some(DismissalReason::UsedInTests), comment: "so".to_owned() }
}

#[test]
fn what_is_reported_again_keeps_its_state() {
    test(|tx, world| {
        let before = one(tx, world)?;
        let grant = world.may_anywhere::<UseVulnerabilities>(world.developer)?;
        judge(tx, &grant, &world.around, before.id, &judgement(Step::Confirm))?;
        let worse = Finding { severity: Severity::Critical, ..finding("a") };
        tx.save_finding(world.project, PipelineId(2), &worse)?;
        let [after] = &all(tx, world)?[..] else { panic!("one vulnerability") };
        assert_eq!((after.id, after.state), (before.id, State::Confirmed));
        assert_eq!((after.severity, after.pipeline_id), (Severity::Critical, PipelineId(2)));
        Ok(())
    });
}

#[test]
fn the_same_weakness_of_two_projects_is_two_vulnerabilities() {
    test(|tx, world| {
        for project in [world.project, world.other] {
            tx.save_finding(project, PipelineId(1), &finding("a"))?;
        }
        assert_eq!(all(tx, world)?.len(), 1);
        Ok(())
    });
}

#[test]
fn what_its_scanner_does_not_report_is_resolved_on_the_default_branch() {
    test(|tx, world| {
        let of = |title: &str, scanner: &str, kind| Finding {
            scanner_id: scanner.to_owned(),
            report_type: kind,
            ..finding(title)
        };
        let first = [
            of("gone", "semgrep", ReportType::Sast),
            of("stays", "semgrep", ReportType::Sast),
            of("other scanner", "bandit", ReportType::Sast),
            of("other kind", "semgrep", ReportType::Dast),
        ];
        for finding in &first {
            tx.save_finding(world.project, PipelineId(1), finding)?;
        }
        tx.save_finding(world.project, PipelineId(2), &first[1])?;
        let mut resolve = |pipeline| {
            let (project, kind) = (world.project, ReportType::Sast);
            tx.resolve_unreported(project, PipelineId(pipeline), kind, "semgrep")
        };
        assert_eq!((resolve(1)?, resolve(2)?, resolve(2)?), (0, 1, 0));
        let resolved = VulnerabilityFilter {
            resolved_on_default_branch: Some(true),
            ..VulnerabilityFilter::default()
        };
        let listed = tx.vulnerabilities(world.project, &resolved, PageRequest::default())?.items;
        let titles: Vec<_> = listed.iter().map(|one| (one.title.as_str(), one.state)).collect();
        assert_eq!(titles, [("gone", State::Detected)]);
        tx.save_finding(world.project, PipelineId(3), &first[0])?;
        let listed = tx.vulnerabilities(world.project, &resolved, PageRequest::default())?.items;
        assert!(listed.is_empty(), "it was reported again");
        Ok(())
    });
}

#[test]
fn a_step_is_kept_with_who_took_it() {
    test(|tx, world| {
        let before = one(tx, world)?;
        let grant = world.may_anywhere::<UseVulnerabilities>(world.developer)?;
        for (step, state) in [(Step::Dismiss, State::Dismissed), (Step::Revert, State::Detected)] {
            let after = judge(tx, &grant, &world.around, before.id, &judgement(step))?;
            assert_eq!(after.state, state);
            let reason = (step == Step::Dismiss).then_some(DismissalReason::UsedInTests);
            assert_eq!(after.dismissal_reason, reason);
        }
        let told = tx.state_changes(&[before.id])?;
        let told: Vec<_> = told.iter().map(|change| (change.state, change.user_id)).collect();
        let dev = Some(world.developer);
        assert_eq!(told, [(State::Dismissed, dev), (State::Detected, dev)]);
        Ok(())
    });
}

#[test]
fn a_revert_takes_back_what_was_decided_before_it() {
    test(|tx, world| {
        let id = one(tx, world)?.id;
        let grant = world.may_anywhere::<UseVulnerabilities>(world.developer)?;
        for step in [Step::Dismiss, Step::Confirm, Step::Revert, Step::Resolve] {
            judge(tx, &grant, &world.around, id, &judgement(step))?;
        }
        let changes = tx.state_changes(&[id])?;
        let states = [State::Dismissed, State::Confirmed, State::Resolved];
        let kept = states.map(|state| last_change(&changes, id, state).is_some());
        assert_eq!(kept, [false, false, true]);
        Ok(())
    });
}

#[test]
fn a_step_that_leads_nowhere_leaves_no_trace() {
    test(|tx, world| {
        let before = one(tx, world)?;
        let grant = world.may_anywhere::<UseVulnerabilities>(world.developer)?;
        let again = judge(tx, &grant, &world.around, before.id, &judgement(Step::Revert));
        assert_eq!(again.unwrap_err().kind, Kind::Unchanged);
        let long = Judgement { comment: "x".repeat(50_001), ..judgement(Step::Confirm) };
        let refused = judge(tx, &grant, &world.around, before.id, &long);
        assert_eq!(refused.unwrap_err().kind, Kind::BadRequest);
        assert!(tx.state_changes(&[before.id])?.is_empty());
        Ok(())
    });
}

#[test]
fn a_vulnerability_moves_only_from_where_it_was_seen() {
    test(|tx, world| {
        let seen = one(tx, world)?;
        assert!(tx.move_vulnerability(&seen, State::Confirmed, None)?.is_some());
        assert!(tx.move_vulnerability(&seen, State::Resolved, None)?.is_none());
        assert_eq!(all(tx, world)?[0].state, State::Confirmed);
        Ok(())
    });
}

#[test]
fn reporters_know_of_the_project_and_strangers_do_not() {
    test(|tx, world| {
        let known = one(tx, world)?;
        let grant = world.may_anywhere::<UseVulnerabilities>(world.reporter)?;
        let refused = |tx: &mut Tx<'_>, around: &crate::world::FakeMembers| {
            read(tx, &grant, around, known.id).unwrap_err().kind
        };
        assert_eq!(refused(tx, &world.around), Kind::Forbidden);
        assert_eq!(refused(tx, &world.around.without(world.reporter)), Kind::NotFound);
        Ok(())
    });
}

#[test]
fn open_ones_are_counted_for_each_day() {
    test(|tx, world| {
        let found = one(tx, world)?;
        let today = tx.now.datetime().date();
        let counted = |tx: &mut Tx<'_>| tx.open_by_day(&[world.project], today, today);
        assert_eq!(counted(tx)?[0].by_severity[&Severity::High], 1);
        let grant = world.may_anywhere::<UseVulnerabilities>(world.developer)?;
        judge(tx, &grant, &world.around, found.id, &judgement(Step::Dismiss))?;
        assert_eq!(counted(tx)?[0].by_severity[&Severity::High], 0);
        judge(tx, &grant, &world.around, found.id, &judgement(Step::Revert))?;
        assert_eq!(counted(tx)?[0].by_severity[&Severity::High], 1);
        let before = today.previous_day().unwrap();
        assert_eq!(tx.open_by_day(&[world.project], before, today)?.len(), 1);
        Ok(())
    });
}

#[test]
fn what_a_newer_pipeline_told_is_not_undone_by_an_older_one() {
    test(|tx, world| {
        tx.save_finding(world.project, PipelineId(2), &finding("a"))?;
        let older = Finding { severity: Severity::Critical, ..finding("a") };
        tx.save_finding(world.project, PipelineId(1), &older)?;
        let [kept] = &all(tx, world)?[..] else { panic!("one vulnerability") };
        assert_eq!((kept.severity, kept.pipeline_id), (Severity::High, PipelineId(2)));
        tx.save_finding(world.project, PipelineId(2), &older)?;
        assert_eq!(all(tx, world)?[0].severity, Severity::Critical, "the same pipeline again");
        Ok(())
    });
}
