//! Projects of a group: its own, those around it, and those shared with it.

use kernel::{AccessLevel, Visibility};
use org::{
    policy::ReadGroup,
    project::{
        in_group::GroupScope,
        list::{OrderBy, ProjectSet, Sort},
    },
};

use super::project_lists::{ListProjects, ProjectQuery, Projects, answer};
use crate::{
    app::App, error::ApiResult, extract::Call, param_enums, params,
    rest::shared::int_enums::MinAccessLevel, routes,
};

routes! { "Groups" at "/groups/{id}/projects";
    GET ""        => list   : ReadGroup,
    GET "/shared" => shared : ReadGroup,
}

kernel::text_enum! {
    /// What a group's projects are ordered by.
    pub enum GroupOrderBy {
        Id = "id", Name = "name", Path = "path", CreatedAt = "created_at", UpdatedAt = "updated_at",
        LastActivityAt = "last_activity_at", Similarity = "similarity",
    }
}
kernel::text_enum! {
    /// What projects shared with a group are ordered by.
    pub enum SharedOrderBy {
        Id = "id", Name = "name", Path = "path", CreatedAt = "created_at", UpdatedAt = "updated_at",
        LastActivityAt = "last_activity_at",
    }
}
param_enums! { GroupOrderBy, SharedOrderBy }

params! {
    struct ListOwn: keyset {
        archived: Option<bool>,
        visibility: Option<Visibility>,
        search: Option<String>,
        order_by: GroupOrderBy = GroupOrderBy::CreatedAt,
        sort: Sort = Sort::Descending,
        simple: bool = false,
        owned: bool = false,
        starred: bool = false,
        with_issues_enabled: bool = false,
        with_merge_requests_enabled: bool = false,
        with_shared: bool = true,
        include_subgroups: bool = false,
        include_ancestor_groups: bool = false,
        min_access_level: Option<MinAccessLevel>,
        with_custom_attributes: bool = false,
        with_security_reports: bool = false,
        id_after: Option<i64>,
        id_before: Option<i64>,
    }
}

params! {
    struct ListSharedProjects: keyset {
        archived: Option<bool>,
        visibility: Option<Visibility>,
        search: Option<String>,
        order_by: SharedOrderBy = SharedOrderBy::CreatedAt,
        sort: Sort = Sort::Descending,
        simple: bool = false,
        starred: bool = false,
        with_issues_enabled: bool = false,
        with_merge_requests_enabled: bool = false,
        min_access_level: Option<MinAccessLevel>,
        with_custom_attributes: bool = false,
        id_after: Option<i64>,
        id_before: Option<i64>,
    }
}

impl ListOwn {
    /// Likeness knows one direction; where nothing is looked for, names take its place.
    fn order(&self) -> (OrderBy, Sort) {
        let searching = self.search.as_deref().is_some_and(|term| !term.trim().is_empty());
        match self.order_by {
            GroupOrderBy::Similarity if searching => (OrderBy::Similarity, Sort::Descending),
            GroupOrderBy::Similarity => (OrderBy::Name, Sort::Ascending),
            other => (order_named(&other.to_string()), self.sort),
        }
    }

    fn list(&self) -> ListProjects {
        let (order_by, sort) = self.order();
        ListProjects {
            archived: self.archived,
            visibility: self.visibility,
            search: self.search.clone(),
            owned: self.owned,
            starred: self.starred,
            with_issues_enabled: self.with_issues_enabled,
            with_merge_requests_enabled: self.with_merge_requests_enabled,
            min_access_level: level(self.min_access_level),
            id_after: self.id_after,
            id_before: self.id_before,
            order_by,
            sort,
            simple: self.simple,
            with_custom_attributes: self.with_custom_attributes,
            ..nothing_asked()
        }
    }
}

impl ListSharedProjects {
    fn list(&self) -> ListProjects {
        ListProjects {
            archived: self.archived,
            visibility: self.visibility,
            search: self.search.clone(),
            starred: self.starred,
            with_issues_enabled: self.with_issues_enabled,
            with_merge_requests_enabled: self.with_merge_requests_enabled,
            min_access_level: level(self.min_access_level),
            id_after: self.id_after,
            id_before: self.id_before,
            order_by: order_named(&self.order_by.to_string()),
            sort: self.sort,
            simple: self.simple,
            with_custom_attributes: self.with_custom_attributes,
            ..nothing_asked()
        }
    }
}

fn level(given: Option<MinAccessLevel>) -> Option<AccessLevel> {
    given.map(|least| least.0)
}

fn order_named(name: &str) -> OrderBy {
    <OrderBy as kernel::TextEnum>::find(name).unwrap_or(OrderBy::CreatedAt)
}

/// All projects, as a list shows them that was asked for nothing.
fn nothing_asked() -> ListProjects {
    ListProjects {
        archived: None,
        visibility: None,
        search: None,
        search_namespaces: None,
        owned: false,
        starred: false,
        imported: false,
        membership: false,
        with_issues_enabled: false,
        with_merge_requests_enabled: false,
        with_programming_language: None,
        min_access_level: None,
        id_after: None,
        id_before: None,
        last_activity_after: None,
        last_activity_before: None,
        updated_after: None,
        updated_before: None,
        repository_storage: None,
        topic: None,
        topic_id: None,
        order_by: OrderBy::CreatedAt,
        sort: Sort::Descending,
        simple: false,
        statistics: false,
        with_custom_attributes: false,
        custom_attributes: None,
    }
}

async fn list(app: App, call: Call<ReadGroup, ListOwn>) -> ApiResult<Projects> {
    let asked = ProjectQuery {
        with_security_reports: call.params.with_security_reports,
        whole: true,
        ..ProjectQuery::of(&call, &call.params.list())
    };
    let scope = GroupScope {
        id: call.grant.group(),
        full_path: call.grant.group_facts().full_path.clone(),
        own: true,
        below: call.params.include_subgroups,
        above: call.params.include_ancestor_groups,
        shared: call.params.with_shared,
    };
    answer(&app, asked, ProjectSet::Group(scope)).await
}

async fn shared(app: App, call: Call<ReadGroup, ListSharedProjects>) -> ApiResult<Projects> {
    let scope = GroupScope {
        id: call.grant.group(),
        full_path: call.grant.group_facts().full_path.clone(),
        own: false,
        below: false,
        above: false,
        shared: true,
    };
    let asked = ProjectQuery { whole: true, ..ProjectQuery::of(&call, &call.params.list()) };
    answer(&app, asked, ProjectSet::Group(scope)).await
}
