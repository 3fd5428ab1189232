//! Reports who has which role in each group of a tree: `cargo run -p forgeway-org --example report_members`.
//!
//! A tool for a real installation opens its database with `Database::open`; this one makes a small company first.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::collections::BTreeMap;

use db::{Tx, testing::TestDatabase};
use forgeway_org::{
    access::IdOrPath,
    access::locate_group,
    hierarchy::{below_group, group_paths},
    member::{MemberFilter, NewMember, Source, list, steps::insert},
    namespace::actions::{NewGroup, create},
    user::{self, User, actions::NewUser},
};
use kernel::{
    AccessLevel, Actor, Grant, Result, Standing,
    access::{Instance, SignedIn},
    ids::NamespaceId,
    page::PageRequest,
};

fn main() -> Result<()> {
    let scratch = TestDatabase::new();
    let (ada, company) = scratch.db.write_blocking(make_company)?;
    let report = scratch.db.read_blocking(|tx| report(tx, ada, company))?;
    for (group, members) in &report {
        println!("{group}: {}", members.join(", "));
    }
    assert_eq!(report["company"], ["ada (Owner)"]);
    assert_eq!(report["company/tools"], ["ada (Owner)", "bob (Developer)"]);
    Ok(())
}

/// Who is in a group and in each group below it, as far as somebody may know.
fn report(
    tx: &mut Tx<'_>,
    actor: Actor,
    top: NamespaceId,
) -> Result<BTreeMap<String, Vec<String>>> {
    let mut groups = vec![top];
    groups.extend(below_group(tx, actor, top)?);
    let paths = group_paths(tx, &groups)?;
    let page = PageRequest { per_page: 100, ..PageRequest::default() };
    let mut report = BTreeMap::new();
    for group in groups {
        // With everybody who has a role there because they have one further up.
        let found = list::all(tx, actor, Source::Group(group), &MemberFilter::default(), page)?;
        let members = found.items.iter();
        let members =
            members.map(|one| format!("{} ({:?})", one.user.username, one.access_level)).collect();
        report.insert(paths.get(&group).cloned().unwrap_or_default(), members);
    }
    Ok(report)
}

/// `company` of ada's with `company/tools` below it, in which bob develops.
fn make_company(tx: &mut Tx<'_>) -> Result<(Actor, NamespaceId)> {
    let ada = user::actions::create(tx, &NewUser::named("ada"))?;
    let bob = user::actions::create(tx, &NewUser::named("bob"))?;
    let company = make_group(tx, &ada, "company", None)?;
    let tools = make_group(tx, &ada, "tools", Some(company))?;
    let developer = NewMember {
        source: Source::Group(tools),
        user_id: bob.id,
        access_level: AccessLevel::Developer,
        expires_at: None,
        created_by: Some(ada.id),
    };
    insert(tx, &developer)?;
    Ok((ada.actor(), company))
}

fn make_group(
    tx: &mut Tx<'_>,
    owner: &User,
    path: &str,
    parent: Option<NamespaceId>,
) -> Result<NamespaceId> {
    let parent = match parent {
        Some(id) => Some((id, locate_group(tx, owner.actor(), &IdOrPath::Id(id.0))?.1)),
        None => None,
    };
    let may: Grant<SignedIn> = Grant::check(&Standing::in_instance(owner.actor()), Instance)?;
    let new = NewGroup {
        name: path.to_owned(),
        path: path.to_owned(),
        parent,
        visibility: None,
        picture_fault: None,
    };
    Ok(create(tx, &may, &new, |_details| {})?.id)
}
