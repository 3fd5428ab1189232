//! Issues that have to do with each other.

use db::Tx;
use forgeway_review::issue::{
    Issue, IssueStore as _,
    actions::close,
    link::{
        LinkType,
        actions::{LinkWithIssues, create, list, remove},
    },
};
use kernel::{Result, error::Kind, ids::UserId};

use crate::world::{World, test, titled};

fn two(tx: &mut Tx<'_>, world: &World) -> Result<(Issue, Issue)> {
    let one = world.issue(tx, world.owner, titled("Tea"))?;
    Ok((one, world.issue_in(tx, world.other, world.owner, titled("Milk"))?))
}

fn link(
    tx: &mut Tx<'_>,
    world: &World,
    by: UserId,
    (one, other): (&Issue, &Issue),
    link_type: LinkType,
) -> Result<LinkWithIssues> {
    let target = (other.project_id, other.iid);
    create(tx, &world.around, &world.standing(by), one, target, link_type)
}

fn blocked_by(tx: &mut Tx<'_>, issue: &Issue) -> Result<i64> {
    Ok(tx.find_issue_by_id(issue.id)?.unwrap().blocking_issues_count)
}

#[test]
fn issues_of_different_projects_are_related() {
    test(|tx, world| {
        let (tea, milk) = two(tx, world)?;
        link(tx, world, world.reporter, (&tea, &milk), LinkType::RelatesTo)?;
        let found = list(tx, &world.around, &world.standing(world.guest), &milk)?;
        assert_eq!((found.len(), found[0].issue.id), (1, tea.id));
        Ok(())
    });
}

#[test]
fn an_issue_is_not_related_to_itself() {
    test(|tx, world| {
        let (tea, _) = two(tx, world)?;
        let refused = link(tx, world, world.owner, (&tea, &tea), LinkType::Blocks).unwrap_err();
        assert_eq!(refused.kind, Kind::Unprocessable);
        Ok(())
    });
}

#[test]
fn two_issues_have_one_link_in_either_direction() {
    test(|tx, world| {
        let (tea, milk) = two(tx, world)?;
        link(tx, world, world.owner, (&tea, &milk), LinkType::RelatesTo)?;
        for ends in [(&tea, &milk), (&milk, &tea)] {
            let again = link(tx, world, world.owner, ends, LinkType::Blocks).unwrap_err();
            assert_eq!(again.kind, Kind::Conflict);
        }
        Ok(())
    });
}

#[test]
fn guests_do_not_link_issues() {
    test(|tx, world| {
        let (tea, milk) = two(tx, world)?;
        let refused = link(tx, world, world.guest, (&tea, &milk), LinkType::RelatesTo);
        assert_eq!(refused.unwrap_err().kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn an_issue_that_is_not_there_is_not_linked() {
    test(|tx, world| {
        let (tea, milk) = two(tx, world)?;
        let gone = Issue { iid: 99, ..milk };
        let refused = link(tx, world, world.owner, (&tea, &gone), LinkType::RelatesTo).unwrap_err();
        assert_eq!(refused.kind, Kind::NotFound);
        assert!(refused.to_string().starts_with("No matching issue found."));
        Ok(())
    });
}

#[test]
fn what_an_issue_is_blocked_by_is_kept_the_other_way_round() {
    test(|tx, world| {
        let (tea, milk) = two(tx, world)?;
        let linked = link(tx, world, world.owner, (&tea, &milk), LinkType::IsBlockedBy)?;
        assert_eq!((linked.source.id, linked.target.id), (milk.id, tea.id));
        assert_eq!(linked.link.link_type, LinkType::Blocks);
        let seen = list(tx, &world.around, &world.standing(world.guest), &tea)?;
        assert_eq!(seen[0].link_type, LinkType::IsBlockedBy);
        Ok(())
    });
}

#[test]
fn only_open_issues_are_counted_as_blocked() {
    test(|tx, world| {
        let (tea, milk) = two(tx, world)?;
        link(tx, world, world.owner, (&tea, &milk), LinkType::Blocks)?;
        assert_eq!(blocked_by(tx, &tea)?, 1);
        close(tx, &milk, world.owner)?;
        assert_eq!(blocked_by(tx, &tea)?, 0);
        Ok(())
    });
}

#[test]
fn reporters_remove_links() {
    test(|tx, world| {
        let (tea, milk) = two(tx, world)?;
        let id = link(tx, world, world.owner, (&tea, &milk), LinkType::Blocks)?.link.id;
        let mut remove = |by| remove(tx, &world.around, &world.standing(by), &milk, id);
        assert_eq!(remove(world.guest).unwrap_err().kind, Kind::Forbidden);
        remove(world.reporter)?;
        assert_eq!(remove(world.reporter).unwrap_err().kind, Kind::NotFound);
        assert_eq!(blocked_by(tx, &tea)?, 0);
        Ok(())
    });
}
