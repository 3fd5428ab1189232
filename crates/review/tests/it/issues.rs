//! Issues.

use db::Tx;
use forgeway_review::{
    issue::{
        Issue, IssueState, IssueStep, IssueType,
        actions::{IssueChange, NewIssue, find, remove, update},
    },
    item::{ItemKind, ItemStore as _, labels::LabelChange},
    milestone::actions::{MilestoneChange, create as create_milestone},
    note::reading::Activity,
    policy::{CreateIssues, DeleteIssues, ManageMilestones, ReadIssues},
};
use kernel::{
    Result, Ts,
    error::Kind,
    ids::{MilestoneId, UserId},
};

use crate::world::{World, test, titled};

fn with_labels(title: &str, names: &[&str]) -> NewIssue {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    NewIssue { labels: LabelChange { all: Some(names), ..LabelChange::default() }, ..titled(title) }
}

fn labels(tx: &mut Tx<'_>, issue: &Issue) -> Result<Vec<String>> {
    let mut found = tx.labels_of(ItemKind::Issue, &[issue.id.0])?;
    let found = found.remove(&issue.id.0).unwrap_or_default();
    Ok(found.into_iter().map(|label| label.name).collect())
}

fn change(
    tx: &mut Tx<'_>,
    world: &World,
    by: UserId,
    iid: i64,
    change: IssueChange,
) -> Result<Issue> {
    let grant = world.may::<CreateIssues>(by)?;
    update(tx, &grant, &world.around, iid, change)
}

fn retitled(title: &str) -> IssueChange {
    IssueChange { title: Some(title.to_owned()), ..IssueChange::default() }
}

fn step(step: IssueStep) -> IssueChange {
    IssueChange { step: Some(step), ..IssueChange::default() }
}

#[test]
fn numbers_count_in_each_project() {
    test(|tx, world| {
        let first = world.issue(tx, world.guest, titled("Tea"))?;
        let second = world.issue(tx, world.guest, titled("Milk"))?;
        let elsewhere = world.issue_in(tx, world.other, world.guest, titled("Tea"))?;
        assert_eq!([first.iid, second.iid, elsewhere.iid], [1, 2, 1]);
        Ok(())
    });
}

#[test]
fn only_owners_choose_the_number_of_an_issue() {
    test(|tx, world| {
        let numbered = || NewIssue { iid: Some(7), ..titled("Tea") };
        assert_eq!(world.issue(tx, world.reporter, numbered())?.iid, 1);
        assert_eq!(world.issue(tx, world.owner, numbered())?.iid, 7);
        assert_eq!(world.issue(tx, world.owner, titled("Milk"))?.iid, 8);
        Ok(())
    });
}

#[test]
fn a_number_is_given_once() {
    test(|tx, world| {
        let numbered = |iid| NewIssue { iid: Some(iid), ..titled("Tea") };
        world.issue(tx, world.owner, numbered(7))?;
        let again = world.issue(tx, world.owner, numbered(7)).unwrap_err();
        assert_eq!((again.kind, again.to_string().as_str()), (Kind::Conflict, "Duplicated issue"));
        let zero = world.issue(tx, world.owner, numbered(0)).unwrap_err();
        assert_eq!(zero.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn an_issue_needs_a_title_of_at_most_255_characters() {
    test(|tx, world| {
        for title in [String::new(), "  ".to_owned(), "é".repeat(256)] {
            let refused = world.issue(tx, world.owner, titled(&title)).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{title}");
        }
        world.issue(tx, world.owner, titled(&"é".repeat(255))).map(drop)
    });
}

#[test]
fn a_weight_below_zero_is_refused() {
    test(|tx, world| {
        let light = NewIssue { weight: Some(-1), ..titled("Tea") };
        assert_eq!(world.issue(tx, world.owner, light).unwrap_err().kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn strangers_plan_nothing() {
    test(|tx, world| {
        let new = NewIssue {
            weight: Some(3),
            assignees: vec![world.owner],
            ..with_labels("Tea", &["bug"])
        };
        let issue = world.issue(tx, world.stranger, new)?;
        assert_eq!((issue.weight, labels(tx, &issue)?.len()), (None, 0));
        assert!(!tx.is_assigned(issue.id.into(), world.owner)?);
        Ok(())
    });
}

#[test]
fn reporters_make_labels_by_using_them() {
    test(|tx, world| {
        let unknown = world.issue(tx, world.guest, with_labels("Tea", &["bug"]))?;
        assert!(labels(tx, &unknown)?.is_empty());
        let made = world.issue(tx, world.reporter, with_labels("Tea", &["bug"]))?;
        assert_eq!(labels(tx, &made)?, ["bug"]);
        let known = world.issue(tx, world.guest, with_labels("Tea", &["bug"]))?;
        assert_eq!(labels(tx, &known)?, ["bug"]);
        Ok(())
    });
}

#[test]
fn an_issue_has_one_label_of_a_scope() {
    test(|tx, world| {
        let issue = world.issue(tx, world.owner, with_labels("Tea", &["size::1", "hot"]))?;
        let add = LabelChange { add: vec!["size::2".to_owned()], ..LabelChange::default() };
        let asked = IssueChange { labels: add, ..IssueChange::default() };
        change(tx, world, world.owner, issue.iid, asked)?;
        assert_eq!(labels(tx, &issue)?, ["hot", "size::2"]);
        Ok(())
    });
}

#[test]
fn a_confidential_issue_is_for_reporters_its_author_and_its_assignees() {
    test(|tx, world| {
        let secret = NewIssue { confidential: true, ..titled("Tea") };
        world.issue(tx, world.stranger, secret)?;
        let reads = |tx: &mut Tx<'_>, user| find(tx, &world.may::<ReadIssues>(user)?, 1);
        assert_eq!(reads(tx, world.guest).unwrap_err().kind, Kind::NotFound);
        assert!(reads(tx, world.stranger).is_ok() && reads(tx, world.reporter).is_ok());
        // Nobody can be given what they may not read, but reporters may be given anything.
        let asked = IssueChange { assignees: Some(vec![world.guest]), ..IssueChange::default() };
        change(tx, world, world.reporter, 1, asked)?;
        assert!(reads(tx, world.guest).is_err());
        Ok(())
    });
}

#[test]
fn an_assignee_keeps_an_issue_that_becomes_confidential() {
    test(|tx, world| {
        let given = NewIssue { assignees: vec![world.guest], ..titled("Tea") };
        world.issue(tx, world.owner, given)?;
        let secret = IssueChange { confidential: Some(true), ..IssueChange::default() };
        change(tx, world, world.owner, 1, secret)?;
        let reads = |tx: &mut Tx<'_>, user| find(tx, &world.may::<ReadIssues>(user)?, 1);
        assert!(reads(tx, world.guest).is_ok() && reads(tx, world.stranger).is_err());
        Ok(())
    });
}

#[test]
fn closing_twice_writes_one_note() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        for _ in 0..2 {
            let closed = change(tx, world, world.owner, 1, step(IssueStep::Close))?;
            assert_eq!((closed.state, closed.closed_at), (IssueState::Closed, Some(tx.now)));
        }
        let opened = change(tx, world, world.owner, 1, step(IssueStep::Reopen))?;
        assert_eq!((opened.state, opened.closed_at), (IssueState::Opened, None));
        let notes = world.notes(tx, world.guest, 1, Activity::Activity)?;
        assert_eq!(notes, ["closed", "reopened"]);
        Ok(())
    });
}

#[test]
fn authors_change_the_words_of_their_issue_and_not_its_plan() {
    test(|tx, world| {
        world.issue(tx, world.stranger, titled("Tea"))?;
        let asked = IssueChange { weight: Some(Some(3)), ..retitled("Green tea") };
        let changed = change(tx, world, world.stranger, 1, asked)?;
        assert_eq!((changed.title.as_str(), changed.weight), ("Green tea", None));
        let others = change(tx, world, world.guest, 1, retitled("Milk")).unwrap_err();
        assert_eq!(others.kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn an_incident_is_not_changed_by_its_author() {
    test(|tx, world| {
        let incident = NewIssue { issue_type: Some(IssueType::Incident), ..titled("Fire") };
        world.issue(tx, world.guest, incident)?;
        let refused = change(tx, world, world.guest, 1, retitled("Smoke")).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        change(tx, world, world.reporter, 1, retitled("Smoke")).map(drop)
    });
}

#[test]
fn an_issue_that_changed_meanwhile_is_not_removed() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let grant = world.may::<DeleteIssues>(world.owner)?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        assert_eq!(remove(tx, &grant, 1, Some(before)).unwrap_err().kind, Kind::Precondition);
        remove(tx, &grant, 1, Some(tx.now))?;
        assert!(remove(tx, &grant, 1, None).unwrap_err().is_not_found("Issue"));
        assert!(world.may::<DeleteIssues>(world.reporter).is_err());
        Ok(())
    });
}

#[test]
fn a_milestone_of_another_project_is_left_out() {
    test(|tx, world| {
        let grant = world.may_in::<ManageMilestones>(world.other, world.owner)?;
        let asked = MilestoneChange { title: Some("1.0".to_owned()), ..MilestoneChange::default() };
        let foreign = create_milestone(tx, &grant, &world.around, asked)?.id;
        for id in [foreign, MilestoneId(0)] {
            let new = NewIssue { milestone: Some(id), ..titled("Tea") };
            assert_eq!(world.issue(tx, world.owner, new)?.milestone_id, None);
        }
        Ok(())
    });
}

#[test]
fn changes_are_told_among_the_notes() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let asked = IssueChange { assignees: Some(vec![world.guest]), ..retitled("Milk") };
        change(tx, world, world.owner, 1, asked)?;
        let notes = world.notes(tx, world.guest, 1, Activity::All)?;
        assert_eq!(notes, ["assigned to @guest", "changed title from **{-Tea-}** to **{+Milk+}**"]);
        Ok(())
    });
}
