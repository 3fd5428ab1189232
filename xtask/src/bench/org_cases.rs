//! Lists of groups, their projects and people: as an administrator, as somebody in very many groups, as anybody.

use super::{
    cases::{Case, case},
    org_seed::{SeedIds, Size},
};

/// The tokens of the callers beside the administrator.
pub(super) struct Callers {
    /// Somebody with a role in thousands of groups.
    pub(super) busy: String,
    /// Somebody with a role in few.
    pub(super) plain: String,
}

/// A case, and whose token it carries; without one the administrator's.
pub(super) struct OrgCase {
    pub(super) case: Case,
    pub(super) token: Option<String>,
}

/// Ids of groups by what is special about them.
struct Groups {
    large: i64,
    deep: i64,
    /// Tops of trees of twenty.
    tops: Vec<i64>,
    /// Any groups.
    some: Vec<i64>,
}

impl Groups {
    fn of(made: SeedIds, size: Size) -> Self {
        let first = made.groups + size.people;
        let trees = (size.groups - size.large) / 20;
        let every = |count: i64| usize::try_from((count / 200).max(1)).unwrap_or(1);
        Self {
            large: first + 1,
            deep: first + size.large + 1,
            tops: (0..trees)
                .step_by(every(trees))
                .map(|tree| first + size.large + 1 + tree * 20)
                .collect(),
            some: (1..=size.groups).step_by(every(size.groups)).map(|n| first + n).collect(),
        }
    }
}

pub(super) fn cases(made: SeedIds, size: Size, callers: &Callers) -> Vec<OrgCase> {
    let groups = Groups::of(made, size);
    let admin = |case: Case| OrgCase { case, token: None };
    let busy = |case: Case| OrgCase { case, token: Some(callers.busy.clone()) };
    let plain = |case: Case| OrgCase { case, token: Some(callers.plain.clone()) };
    let mut all = of_groups(&groups, size, [&admin, &busy, &plain]);
    all.extend(of_people(&groups, size).into_iter().map(admin));
    all
}

type CaseFn<'a> = &'a dyn Fn(Case) -> OrgCase;

fn of_groups(groups: &Groups, size: Size, [admin, busy, plain]: [CaseFn<'_>; 3]) -> Vec<OrgCase> {
    let each = |ids: &[i64], rest: &str| {
        ids.iter().map(|id| format!("/groups/{id}{rest}")).collect::<Vec<_>>()
    };
    let (large, deep) = (groups.large, groups.deep);
    let searches = |count: i64| (1..=200).map(move |n| n * (count / 200).max(1));
    vec![
        admin(case("groups, administrator", ["/groups".to_owned()])),
        busy(case("groups, member of thousands", ["/groups".to_owned()])),
        busy(case("groups, page 100 of thousands", ["/groups?page=100".to_owned()])),
        plain(case("groups, member of few", ["/groups".to_owned()])),
        plain(case("groups, all available", ["/groups?all_available=true".to_owned()])),
        admin(case(
            "groups search",
            searches(size.groups).map(|n| format!("/groups?search=group-{n}")),
        )),
        busy(case(
            "groups search, member",
            searches(size.groups).map(|n| format!("/groups?search=group-{n}")),
        )),
        admin(case("subgroups", each(&groups.tops, "/subgroups"))),
        busy(case("subgroups, member", [format!("/groups/{large}/subgroups")])),
        admin(case("descendant groups", each(&groups.tops, "/descendant_groups"))),
        busy(case("descendant groups, large tree", [format!("/groups/{large}/descendant_groups")])),
        admin(case("group projects", each(&groups.some, "/projects"))),
        admin(case(
            "group projects, with subgroups",
            each(&groups.tops, "/projects?include_subgroups=true"),
        )),
        busy(case(
            "group projects, large tree",
            [format!("/groups/{large}/projects?include_subgroups=true")],
        )),
        busy(case("namespaces", ["/namespaces".to_owned()])),
        admin(case("members, thousands", [format!("/groups/{deep}/members")])),
        admin(case("members/all, thousands", [format!("/groups/{deep}/members/all")])),
        admin(case("members/all, twenty deep", [format!("/groups/{}/members/all", deep + 19)])),
        admin(case("members/all", each(&groups.some, "/members/all"))),
        admin(case("billable members", each(&groups.tops, "/billable_members"))),
        admin(case("billable members, thousands", [format!("/groups/{deep}/billable_members")])),
    ]
}

fn of_people(_: &Groups, size: Size) -> Vec<Case> {
    let some = (1..=200).map(|n| n * (size.people / 200).max(1)).collect::<Vec<_>>();
    vec![
        case("users list", ["/users".to_owned()]),
        case("users by name", ["/users?order_by=name&sort=asc".to_owned()]),
        case("users search", some.iter().map(|n| format!("/users?search=person-{n}"))),
        case("user by name", some.iter().map(|n| format!("/users?username=person-{n}"))),
    ]
}
