//! Moving and copying issues.

use db::Tx;
use forgeway_review::{
    issue::{
        Issue, IssueState, IssueStore as _, IssueType, Severity,
        actions::NewIssue,
        relocation::{Notes, copy, relocate},
    },
    note::reading::Activity,
    policy::ReadIssueNotes,
};
use kernel::{
    Result,
    error::Kind,
    ids::{ProjectId, UserId},
};

use crate::world::{World, comment, test, titled};

fn move_to(
    tx: &mut Tx<'_>,
    world: &World,
    by: UserId,
    issue: &Issue,
    to: ProjectId,
) -> Result<Issue> {
    relocate(tx, &world.around, &world.standing(by), issue, to)
}

#[test]
fn a_moved_issue_leaves_a_closed_one_behind() {
    test(|tx, world| {
        let tea = world.issue(tx, world.guest, titled("Tea"))?;
        world.say(tx, world.guest, 1, &comment("Milk?"))?;
        let moved = move_to(tx, world, world.reporter, &tea, world.other)?;
        assert_eq!((moved.project_id, moved.author_id), (world.other, world.guest));
        let left = tx.find_issue_by_id(tea.id)?.unwrap();
        assert_eq!((left.state, left.moved_to_id), (IssueState::Closed, Some(moved.id)));
        let grant = world.may_in::<ReadIssueNotes>(world.other, world.guest)?;
        assert_eq!(world.notes_for(tx, &grant, moved.iid, Activity::Comments)?, ["Milk?"]);
        Ok(())
    });
}

#[test]
fn an_incident_is_as_bad_in_its_new_project() {
    test(|tx, world| {
        let incident = NewIssue {
            issue_type: Some(IssueType::Incident),
            severity: Some(Severity::High),
            ..titled("Fire")
        };
        let fire = world.issue(tx, world.reporter, incident)?;
        let moved = move_to(tx, world, world.reporter, &fire, world.other)?;
        assert_eq!((fire.severity, moved.severity), (Severity::High, Severity::High));
        Ok(())
    });
}

#[test]
fn an_issue_is_not_moved_to_its_own_project() {
    test(|tx, world| {
        let tea = world.issue(tx, world.owner, titled("Tea"))?;
        let refused = move_to(tx, world, world.owner, &tea, world.project).unwrap_err();
        assert_eq!(refused.to_string(), "Cannot move issue to project it originates from!");
        Ok(())
    });
}

#[test]
fn guests_do_not_move_issues() {
    test(|tx, world| {
        let tea = world.issue(tx, world.guest, titled("Tea"))?;
        let refused = move_to(tx, world, world.guest, &tea, world.other).unwrap_err();
        assert_eq!(refused.to_string(), "Cannot move issue due to insufficient permissions!");
        let gone = move_to(tx, world, world.owner, &tea, ProjectId(0)).unwrap_err();
        assert!(gone.is_not_found("Project"));
        Ok(())
    });
}

#[test]
fn an_issue_is_moved_once() {
    test(|tx, world| {
        let tea = world.issue(tx, world.owner, titled("Tea"))?;
        move_to(tx, world, world.owner, &tea, world.other)?;
        // Also for somebody who read it before the first move.
        let left = tx.find_issue_by_id(tea.id)?.unwrap();
        for issue in [&left, &tea] {
            let again = move_to(tx, world, world.owner, issue, world.other).unwrap_err();
            assert_eq!(again.kind, Kind::BadRequest);
        }
        Ok(())
    });
}

#[test]
fn a_copy_is_by_whoever_makes_it() {
    test(|tx, world| {
        let tea = world.issue(tx, world.guest, titled("Tea"))?;
        world.say(tx, world.guest, 1, &comment("Milk?"))?;
        let who = world.standing(world.reporter);
        let mut copy_with = |notes| copy(tx, &world.around, &who, &tea, world.project, notes);
        let bare = copy_with(Notes::Leave)?;
        let whole = copy_with(Notes::Copy)?;
        assert_eq!((bare.author_id, bare.title.as_str()), (world.reporter, "Tea"));
        let mut comments =
            |issue: &Issue| world.notes(tx, world.guest, issue.iid, Activity::Comments);
        assert_eq!((comments(&bare)?.len(), comments(&whole)?.len()), (0, 1));
        Ok(())
    });
}
