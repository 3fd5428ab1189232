//! Merge requests.

use db::Tx;
use forgeway_review::{
    merge_request::{
        BranchPair, ForkRelation, Heads, MergeRequest, MergeRequestState,
        actions::{MergeRequestRefs, NewMergeRequest, create, find, remove},
        change::{HeadsSnapshot, MergeRequestChange, update},
        state::Step,
    },
    policy::{
        CreateMergeRequests, DeleteMergeRequests, ProposeMergeRequests, ReadMergeRequests,
        TakePartInMergeRequests,
    },
};
use kernel::{Result, error::Kind, ids::UserId};

use crate::world::{World, test};

fn ends(world: &World, source: &str, target: &str) -> BranchPair {
    BranchPair {
        source: world.project,
        source_branch: source.to_owned(),
        target: world.project,
        target_branch: target.to_owned(),
    }
}

fn heads() -> Heads {
    Heads {
        head: Some("a".repeat(40)),
        start: Some("b".repeat(40)),
        base: Some("b".repeat(40)),
        files: 1,
    }
}

fn propose(
    tx: &mut Tx<'_>,
    world: &World,
    (ends, fork_relation): (BranchPair, ForkRelation),
    title: &str,
) -> Result<MergeRequest> {
    let source = world.may::<ProposeMergeRequests>(world.owner)?;
    let target = world.may::<CreateMergeRequests>(world.owner)?;
    let proposal = MergeRequestRefs { ends, fork_relation, heads: heads() };
    let new = NewMergeRequest { title: title.to_owned(), ..NewMergeRequest::default() };
    create(tx, &source, &target, &world.around, &proposal, new)
}

fn proposed(tx: &mut Tx<'_>, world: &World, branch: &str) -> Result<MergeRequest> {
    propose(tx, world, (ends(world, branch, "main"), ForkRelation::Same), "Tea")
}

fn change(
    tx: &mut Tx<'_>,
    world: &World,
    by: UserId,
    asked: MergeRequestChange,
) -> Result<MergeRequest> {
    let grant = world.may::<TakePartInMergeRequests>(by)?;
    let looked = HeadsSnapshot { at: ends(world, "tea", "main"), heads: heads() };
    update(tx, &grant, &world.around, 1, Some(&looked), asked)
}

fn retitled(title: &str) -> MergeRequestChange {
    MergeRequestChange { title: Some(title.to_owned()), ..MergeRequestChange::default() }
}

fn step(step: Step) -> MergeRequestChange {
    MergeRequestChange { step: Some(step), ..MergeRequestChange::default() }
}

#[test]
fn a_branch_is_not_proposed_to_itself() {
    test(|tx, world| {
        let refused = proposed(tx, world, "main").unwrap_err();
        assert_eq!(refused.kind, Kind::Unprocessable);
        Ok(())
    });
}

#[test]
fn projects_outside_of_a_fork_network_propose_nothing_to_each_other() {
    test(|tx, world| {
        let strangers = (ends(world, "tea", "main"), ForkRelation::Strangers);
        let refused = propose(tx, world, strangers, "Tea").unwrap_err();
        assert_eq!(refused.to_string(), "Source project is not a fork of the target project");
        Ok(())
    });
}

#[test]
fn between_two_branches_one_merge_request_is_open() {
    test(|tx, world| {
        proposed(tx, world, "tea")?;
        let again = proposed(tx, world, "tea").unwrap_err();
        let text = "Another open merge request already exists for this source branch: !1";
        assert_eq!((again.kind, again.to_string().as_str()), (Kind::Conflict, text));
        change(tx, world, world.owner, step(Step::Close))?;
        proposed(tx, world, "tea").map(drop)
    });
}

#[test]
fn a_merge_request_is_not_opened_again_beside_another() {
    test(|tx, world| {
        proposed(tx, world, "tea")?;
        change(tx, world, world.owner, step(Step::Close))?;
        let opened = change(tx, world, world.owner, step(Step::Reopen))?;
        assert_eq!(opened.state, MergeRequestState::Opened);
        change(tx, world, world.owner, step(Step::Close))?;
        proposed(tx, world, "tea")?;
        let refused = change(tx, world, world.owner, step(Step::Reopen)).unwrap_err();
        assert_eq!(refused.kind, Kind::Conflict);
        Ok(())
    });
}

#[test]
fn titles_and_branches_have_to_be_some() {
    test(|tx, world| {
        let at = |branch: &str| (ends(world, branch, "main"), ForkRelation::Same);
        for (branch, title) in [("tea", " "), ("", "Tea"), ("green tea", "Tea")] {
            let refused = propose(tx, world, at(branch), title).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{branch:?} {title:?}");
        }
        Ok(())
    });
}

#[test]
fn the_title_says_whether_it_is_a_draft() {
    test(|tx, world| {
        assert!(!proposed(tx, world, "tea")?.draft);
        assert!(change(tx, world, world.owner, retitled("Draft: Tea"))?.draft);
        assert!(!change(tx, world, world.owner, retitled("Green tea"))?.draft);
        Ok(())
    });
}

#[test]
fn developers_and_the_author_change_a_merge_request() {
    test(|tx, world| {
        proposed(tx, world, "tea")?;
        for user in [world.stranger, world.guest, world.reporter] {
            let refused = change(tx, world, user, retitled("Milk")).unwrap_err();
            assert_eq!(refused.kind, Kind::Forbidden);
        }
        change(tx, world, world.owner, retitled("Milk")).map(drop)
    });
}

#[test]
fn another_target_is_kept_only_if_git_was_asked_about_it() {
    test(|tx, world| {
        proposed(tx, world, "tea")?;
        let to = |branch: &str| MergeRequestChange {
            target_branch: Some(branch.to_owned()),
            ..MergeRequestChange::default()
        };
        let refused = change(tx, world, world.owner, to("stable")).unwrap_err();
        assert_eq!(refused.kind, Kind::Conflict);
        assert_eq!(change(tx, world, world.owner, to("main"))?.target_branch, "main");
        Ok(())
    });
}

#[test]
fn only_owners_remove_merge_requests() {
    test(|tx, world| {
        proposed(tx, world, "tea")?;
        assert!(world.may::<DeleteMergeRequests>(world.reporter).is_err());
        remove(tx, &world.may(world.owner)?, 1, None)?;
        let reads = world.may::<ReadMergeRequests>(world.guest)?;
        assert_eq!(find(tx, &reads, 1).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}
