//! A project's protected branches.

use entities::repo::protection::ProtectedBranchEntity;
use forge::{merge_request::approvals::branches_changed, ports::repo::Members};
use kernel::{AccessLevel, Error};
use repo::{
    policy::{ProtectRefs, ReadCode},
    protection::{
        BranchRuleStore, Holder,
        actions::{self, AccessChange, NewProtection, ProtectRequest, ProtectionChange},
    },
};

use super::protection_params::{AllowedToPush, AllowedToUnprotect, ChangedPush, ChangedUnprotect};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonBlank},
    params,
    present::{Created, Json, NoContent, PagedList},
    rest::shared::access_levels::{PushLevel, UnprotectLevel},
    routes,
};

routes! { "Protected branches" at "/projects/{id}/protected_branches";
    GET    ""        => list      : ReadCode,
    GET    "/{name}" => show      : ReadCode,
    POST   ""        => protect   : ProtectRefs,
    PATCH  "/{name}" => update    : ProtectRefs,
    DELETE "/{name}" => unprotect : ProtectRefs,
}

params! {
    pub struct ListProtectedBranches: paged {
        /// Part of the name.
        search: Option<String>,
    }
}

async fn list(
    app: App,
    call: Call<ReadCode, ListProtectedBranches>,
) -> ApiResult<PagedList<ProtectedBranchEntity>> {
    let (project, page, search) = (call.grant.project(), call.page, call.params.search);
    let listed = app.db.read(move |tx| {
        let rules = tx.branch_rule_page(project, search.as_deref(), page)?;
        rules.try_map_all(|rules| ProtectedBranchEntity::all(tx, rules))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneProtectedBranch {
        /// Name or wildcard of the protected branch.
        name: String,
    }
}

async fn show(
    app: App,
    call: Call<ReadCode, OneProtectedBranch>,
) -> ApiResult<Json<ProtectedBranchEntity>> {
    let (project, name) = (call.grant.project(), call.params.name);
    let shown = app.db.read(move |tx| {
        let rule = tx.find_branch_rule(project, &name)?.ok_or_else(Error::missing)?;
        ProtectedBranchEntity::one(tx, rule)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct ProtectBranch {
        /// Name of a branch or a wildcard. The branch need not exist.
        name: String,
        push_access_level: Option<PushLevel>,
        merge_access_level: Option<PushLevel>,
        unprotect_access_level: Option<UnprotectLevel>,
        allow_force_push: bool = false,
        allowed_to_push: Option<Vec<AllowedToPush>>,
        allowed_to_merge: Option<Vec<AllowedToPush>>,
        allowed_to_unprotect: Option<Vec<AllowedToUnprotect>>,
        code_owner_approval_required: bool = false,
    }
}

impl ProtectBranch {
    fn into_new(self) -> NewProtection {
        let push = self.allowed_to_push.unwrap_or_default();
        let merge = self.allowed_to_merge.unwrap_or_default();
        let unprotect = self.allowed_to_unprotect.unwrap_or_default();
        NewProtection {
            name: self.name,
            allow_force_push: self.allow_force_push,
            code_owner_approval_required: self.code_owner_approval_required,
            push: protect_request(
                self.push_access_level.map(|level| level.0),
                push.iter().map(|one| one.0),
            ),
            merge: protect_request(
                self.merge_access_level.map(|level| level.0),
                merge.iter().map(|one| one.0),
            ),
            unprotect: protect_request(
                self.unprotect_access_level.map(|level| level.0),
                unprotect.iter().map(|one| one.0),
            ),
        }
    }
}

pub(super) fn protect_request(
    level: Option<AccessLevel>,
    holders: impl Iterator<Item = Holder>,
) -> ProtectRequest {
    ProtectRequest { level, holders: holders.collect() }
}

async fn protect(
    app: App,
    call: Call<ProtectRefs, ProtectBranch>,
) -> ApiResult<Created<ProtectedBranchEntity>> {
    let (grant, new) = (call.grant, call.params.into_new());
    let made = app.db.write(move |tx| {
        let rule = actions::protect_branch(tx, &grant, &Members, &new)?;
        branches_changed(tx, grant.project())?;
        ProtectedBranchEntity::one(tx, rule)
    });
    Ok(Created(made.await?))
}

params! {
    pub struct UpdateProtectedBranch {
        name: String,
        allow_force_push: Option<NonBlank<bool>>,
        code_owner_approval_required: bool = false,
        unprotect_access_level: Option<UnprotectLevel>,
        allowed_to_push: Option<Vec<ChangedPush>>,
        allowed_to_merge: Option<Vec<ChangedPush>>,
        allowed_to_unprotect: Option<Vec<ChangedUnprotect>>,
    }
}

impl UpdateProtectedBranch {
    fn change(&self) -> ProtectionChange {
        let pushes = |given: &Option<Vec<ChangedPush>>| -> Vec<AccessChange> {
            given.iter().flatten().map(|one| one.0).collect()
        };
        let level = self.unprotect_access_level;
        let level = level.map(|level| AccessChange::Add(Holder::Role(level.0)));
        let unprotect = self.allowed_to_unprotect.iter().flatten().map(|one| one.0);
        ProtectionChange {
            allow_force_push: self.allow_force_push.map(|given| given.0),
            code_owner_approval_required: self.code_owner_approval_required,
            push: pushes(&self.allowed_to_push),
            merge: pushes(&self.allowed_to_merge),
            unprotect: level.into_iter().chain(unprotect).collect(),
        }
    }
}

async fn update(
    app: App,
    call: Call<ProtectRefs, UpdateProtectedBranch>,
) -> ApiResult<Json<ProtectedBranchEntity>> {
    let (grant, params) = (call.grant, call.params);
    let changed = app.db.write(move |tx| {
        let rule = actions::update_branch(tx, &grant, &Members, &params.name, &params.change())?;
        branches_changed(tx, grant.project())?;
        ProtectedBranchEntity::one(tx, rule)
    });
    Ok(Json(changed.await?))
}

async fn unprotect(app: App, call: Call<ProtectRefs, OneProtectedBranch>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, name) = (call.grant, call.params.name);
    let done = app.db.write(move |tx| {
        actions::unprotect_branch(tx, &grant, &name, since)?;
        branches_changed(tx, grant.project())
    });
    done.await?;
    Ok(NoContent)
}
