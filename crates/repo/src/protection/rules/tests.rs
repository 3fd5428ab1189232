//! Every refusal: which role meets it, where and on which way.

use std::fmt::Write as _;

use kernel::{
    AccessLevel::{self, Admin, Developer, Maintainer, NoAccess, Owner, Reporter},
    Actor, Standing, Ts, Visibility,
    access::{Features, ProjectFacts},
    ids::{AccessRecordId, NamespaceId, ProjectId, ProtectedBranchId, ProtectedTagId, UserId},
};

use super::{
    super::guard::Protection, NO_FORCE, NO_MERGE, NO_PROTECTED_PUSH, NO_PUSH, looks_like_id,
    refusal,
};
use crate::{
    git::{Oid, RefName},
    protection::model::{Access, BranchRule, Holder, ProtectedBranch, ProtectedTag, TagRule},
    push::{PushSource, RefChange},
};

const ME: UserId = UserId(7);
const MY_GROUP: NamespaceId = NamespaceId(8);

fn project(default_branch: Option<&str>) -> ProjectFacts {
    ProjectFacts {
        id: ProjectId(1),
        namespace_id: NamespaceId(1),
        name: "one".to_owned(),
        full_path: "group/one".to_owned(),
        default_branch: default_branch.map(str::to_owned),
        first_push: Maintainer,
        visibility: Visibility::Private,
        archived: false,
        features: Features::ALL_ENABLED,
    }
}

fn standing(level: AccessLevel) -> Standing {
    let actor = Actor { id: Some(ME), admin: level == Admin, ..Actor::ANONYMOUS };
    Standing::in_project(actor, level.min(Owner), &project(None))
}

fn records(holders: &[Holder]) -> Vec<Access> {
    holders.iter().map(|holder| Access { id: AccessRecordId(1), holder: *holder }).collect()
}

fn rule(name: &str, push: &[Holder], merge: &[Holder], allow_force_push: bool) -> BranchRule {
    let branch = ProtectedBranch {
        id: ProtectedBranchId(1),
        project_id: ProjectId(1),
        name: name.to_owned(),
        allow_force_push,
        code_owner_approval_required: false,
        created_at: Ts(0),
        updated_at: Ts(0),
    };
    let unprotect = records(&[Holder::Role(Maintainer)]);
    BranchRule { branch, push: records(push), merge: records(merge), unprotect }
}

fn tag_rule(name: &str, create: &[Holder]) -> TagRule {
    let tag = ProtectedTag {
        id: ProtectedTagId(1),
        project_id: ProjectId(1),
        name: name.to_owned(),
        updated_at: Ts(0),
    };
    TagRule { tag, create: records(create) }
}

const OLD: Option<Oid> = Some(Oid::EMPTY_TREE);
const NEW: Option<Oid> = Some(Oid::new([1; 20]));

fn change(name: &str, old: Option<Oid>, new: Option<Oid>) -> RefChange {
    RefChange::plain(RefName::full(name).unwrap(), old, new)
}

/// One line for each change and way: which role reads what.
fn matrix(
    branches: &[BranchRule],
    tags: &[TagRule],
    default: Option<&str>,
    rows: &[(&str, RefChange)],
) -> String {
    let mut text = String::new();
    for (told, change) in rows {
        for via in [PushSource::Git, PushSource::Api] {
            writeln!(text, "{told}, {via:?}").unwrap();
            for level in [Reporter, Developer, Maintainer, Admin] {
                let who = standing(level);
                let groups = vec![MY_GROUP];
                let protection = Protection::new(&who, groups, branches.to_vec(), tags.to_vec());
                let read = refusal(&protection, &who, &project(default), change, via);
                writeln!(text, "  {level:?}: {}", read.as_deref().unwrap_or("-")).unwrap();
            }
        }
    }
    text
}

#[test]
fn branches_are_kept_by_their_rules() {
    let rules = [
        rule("main", &[Holder::Role(Maintainer)], &[Holder::Role(Developer)], false),
        rule("sealed", &[Holder::Role(NoAccess)], &[Holder::Role(NoAccess)], true),
        rule("only-admins", &[Holder::Role(Admin)], &[Holder::Role(Admin)], false),
        rule("mine", &[Holder::User(ME)], &[], true),
        rule("ours/*", &[Holder::Group(MY_GROUP)], &[], false),
        rule("theirs", &[Holder::User(UserId(9)), Holder::Group(NamespaceId(9))], &[], false),
    ];
    let forced = |name| RefChange { forced: true, ..change(name, OLD, NEW) };
    let rows = [
        ("update unprotected", forced("refs/heads/free")),
        ("update main", change("refs/heads/main", OLD, NEW)),
        ("force main", forced("refs/heads/main")),
        ("delete main", change("refs/heads/main", OLD, None)),
        ("create sealed", change("refs/heads/sealed", None, NEW)),
        ("force sealed", forced("refs/heads/sealed")),
        ("delete sealed", change("refs/heads/sealed", OLD, None)),
        ("update only-admins", change("refs/heads/only-admins", OLD, NEW)),
        ("force mine", forced("refs/heads/mine")),
        ("update ours/1", change("refs/heads/ours/1", OLD, NEW)),
        ("update theirs", change("refs/heads/theirs", OLD, NEW)),
    ];

    insta::assert_snapshot!(matrix(&rules, &[], Some("main"), &rows));
}

#[test]
fn a_protected_branch_may_start_where_another_one_is() {
    let rules = [rule("main", &[Holder::Role(Maintainer)], &[Holder::Role(Developer)], false)];
    let based = |on_protected| RefChange { on_protected, ..change("refs/heads/main", None, NEW) };
    let rows = [("create main elsewhere", based(false)), ("create main on it", based(true))];

    insta::assert_snapshot!(matrix(&rules, &[], Some("other"), &rows));
}

#[test]
fn tags_are_kept_by_their_rules() {
    let rules =
        [tag_rule("v*", &[Holder::Role(Maintainer)]), tag_rule("my-*", &[Holder::User(ME)])];
    let rows = [
        ("create v1", change("refs/tags/v1", None, NEW)),
        ("update v1", change("refs/tags/v1", OLD, NEW)),
        ("delete v1", change("refs/tags/v1", OLD, None)),
        ("create my-1", change("refs/tags/my-1", None, NEW)),
        ("create free", change("refs/tags/free", None, NEW)),
        ("update free", change("refs/tags/free", OLD, NEW)),
        ("delete free", change("refs/tags/free", OLD, None)),
    ];

    insta::assert_snapshot!(matrix(&[], &rules, Some("main"), &rows));
}

#[test]
fn the_first_push_is_for_those_who_may_push_to_the_default_branch() {
    let rules = [rule("opened", &[Holder::Role(Developer)], &[], false)];
    let rows = [
        ("create main", change("refs/heads/main", None, NEW)),
        ("create opened", change("refs/heads/opened", None, NEW)),
    ];

    insta::assert_snapshot!(matrix(&rules, &[], None, &rows));

    let open = ProjectFacts { first_push: Developer, ..project(None) };
    let who = standing(Developer);
    let protection = Protection::new(&who, Vec::new(), Vec::new(), Vec::new());
    assert_eq!(refusal(&protection, &who, &open, &rows[0].1, PushSource::Git), None);
}

#[test]
fn any_rule_that_matches_may_open_the_branch() {
    let rules = vec![
        rule("*-stable", &[Holder::Role(NoAccess)], &[Holder::Role(NoAccess)], false),
        rule("1-*", &[Holder::Role(Developer)], &[], true),
    ];
    let who = standing(Developer);
    let protection = Protection::new(&who, Vec::new(), rules, Vec::new());

    let both = protection.branch("1-stable");
    assert!(both.may_push() && both.allows_force_push() && both.developers_can_push());
    assert!(!both.may_merge() && !both.developers_can_merge());
    let one = protection.branch("2-stable");
    assert!(one.is_protected() && !one.may_push() && !one.allows_force_push());
    let none = protection.branch("stable");
    assert!(!none.is_protected() && none.may_push() && none.may_merge());
}

#[test]
fn a_branch_must_not_look_like_a_commit() {
    let id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    for name in [id.to_owned(), format!("{id}/x"), format!("{id}-/x")] {
        assert!(looks_like_id(&name), "{name}");
    }
    for name in [&id[1..], &format!("{id}-x"), &format!("{id}0"), &format!("a/{id}"), "main"] {
        assert!(!looks_like_id(name), "{name}");
    }
    let who = standing(Owner);
    let protection = Protection::new(&who, Vec::new(), Vec::new(), Vec::new());
    let branch = change(&format!("refs/heads/{id}/x"), None, NEW);
    let read = refusal(&protection, &who, &project(Some("main")), &branch, PushSource::Git);
    assert_eq!(
        read.as_deref(),
        Some("You cannot create a branch with a 40-character hexadecimal branch name.")
    );
}

#[test]
fn what_is_lent_is_moved_and_nothing_else() {
    let fork_push = |branches: &[&str], rules| {
        let who = standing(Reporter);
        let fork_push_branches = branches.iter().map(|name| (*name).to_owned()).collect();
        (
            who,
            Protection::new(&who, Vec::new(), rules, Vec::new())
                .with_fork_push_branches(fork_push_branches),
        )
    };
    let told = |(who, protection): &(Standing, Protection), name: &str, old, new| {
        let moved = change(name, old, new);
        refusal(protection, who, &project(Some("main")), &moved, PushSource::Git)
    };

    let free = fork_push(&["topic"], Vec::new());
    assert_eq!(told(&free, "refs/heads/topic", OLD, NEW), None);
    assert!(free.1.branch("topic").may_push() && !free.1.branch("main").may_push());
    for (name, old, new) in [
        ("refs/heads/main", OLD, NEW),
        ("refs/heads/topic", None, NEW),
        ("refs/heads/topic", OLD, None),
        ("refs/tags/topic", OLD, NEW),
        ("refs/notes/topic", OLD, NEW),
    ] {
        assert_eq!(told(&free, name, old, new).as_deref(), Some(NO_PUSH), "{name} {old:?} {new:?}");
    }
    let kept = fork_push(&["topic"], vec![rule("top*", &[Holder::Role(Reporter)], &[], true)]);
    assert_eq!(told(&kept, "refs/heads/topic", OLD, NEW).as_deref(), Some(NO_PUSH));
}

#[test]
fn whoever_may_merge_need_not_be_allowed_to_push() {
    let rules = vec![rule("main", &[Holder::Role(Maintainer)], &[Holder::Role(Developer)], false)];
    let who = standing(Developer);
    let protection = Protection::new(&who, Vec::new(), rules, Vec::new());
    let told =
        |moved: &RefChange, via| refusal(&protection, &who, &project(Some("main")), moved, via);

    let moved = change("refs/heads/main", OLD, NEW);
    assert_eq!(told(&moved, PushSource::Merge), None);
    assert_eq!(told(&moved, PushSource::Api).as_deref(), Some(NO_PROTECTED_PUSH));
    let forced = RefChange { forced: true, ..moved };
    assert_eq!(told(&forced, PushSource::Merge).as_deref(), Some(NO_FORCE));
}

#[test]
fn whoever_may_neither_merge_nor_push_is_told_of_merging() {
    let rules = vec![
        rule("main", &[Holder::Role(Maintainer)], &[Holder::Role(Maintainer)], false),
        rule("next", &[Holder::Role(Developer)], &[Holder::Role(NoAccess)], false),
    ];
    let who = standing(Developer);
    let protection = Protection::new(&who, Vec::new(), rules, Vec::new());
    let told = |name| {
        let moved = change(name, OLD, NEW);
        refusal(&protection, &who, &project(Some("main")), &moved, PushSource::Merge)
    };

    assert_eq!(told("refs/heads/main").as_deref(), Some(NO_MERGE));
    assert_eq!(told("refs/heads/next"), None, "whoever may push may merge");
}
