//! Contributors of a repository.

use entities::repo::tree::ContributorEntity;
use kernel::Error;
use repo::{
    commit::read::{commit_named, deadline, default_head},
    git::Contributor,
    policy::ReadCode,
};

use super::tags::SortDirection;
use crate::{
    app::App, error::ApiResult, extract::Call, param_enums, params, present::PagedList, routes,
};

routes! { "Contributors" at "/projects/{id}/repository/contributors";
    GET "" => list : ReadCode,
}

kernel::text_enum! { pub enum ContributorKey { Commits = "commits", Name = "name", Email = "email" } }
param_enums! { ContributorKey }

params! {
    pub struct ListContributors: paged {
        order_by: ContributorKey = ContributorKey::Commits,
        sort: SortDirection = SortDirection::Ascending,
        /// Branch, tag or commit SHA. Default: the default branch.
        r#ref: Option<String>,
    }
}

async fn list(
    app: App,
    call: Call<ReadCode, ListContributors>,
) -> ApiResult<PagedList<ContributorEntity>> {
    let (page, params, facts) = (call.page, call.params, call.grant.facts().clone());
    let read = app.git_read(facts.id, move |reader| {
        let tip = match params.r#ref.filter(|name| !name.is_empty()) {
            Some(name) => Some(commit_named(reader, &name)?),
            None => default_head(reader, &facts)?,
        };
        Ok(reader.contributors(tip.ok_or_else(|| Error::not_found("Commit"))?, deadline())?)
    });
    let mut all = read.await?;
    sort(&mut all, params.order_by, params.sort);
    Ok(PagedList(page.slice(all).map(ContributorEntity::from)))
}

/// Equal ones by name and address.
fn sort(all: &mut [Contributor], key: ContributorKey, direction: SortDirection) {
    all.sort_by(|one, other| (&one.name, &one.email).cmp(&(&other.name, &other.email)));
    match key {
        ContributorKey::Name => {}
        ContributorKey::Email => all.sort_by(|one, other| one.email.cmp(&other.email)),
        ContributorKey::Commits => all.sort_by_key(|one| one.commits),
    }
    if direction == SortDirection::Descending {
        all.reverse();
    }
}
