//! Groups.

use forgeway_org::{
    access::{IdOrPath, locate_project},
    namespace::{
        actions::{NewGroup, create, update},
        store::NamespaceStore as _,
    },
    policy::AdminGroup,
    project::store::ProjectStore as _,
};
use kernel::{AccessLevel, Visibility, error::Kind};

use crate::world::{in_group, new_group, signed_in, test};

#[test]
fn whoever_makes_a_group_owns_it() {
    test(|tx, world| {
        assert!(in_group::<AdminGroup>(tx, &world.ada, world.group.id).is_ok());
        let hidden = in_group::<AdminGroup>(tx, &world.bob, world.group.id).unwrap_err();
        assert!(hidden.is_not_found("Group"));
        Ok(())
    });
}

#[test]
fn a_path_is_taken_whatever_its_letter_case() {
    test(|tx, world| {
        for path in ["TEAM", "ada"] {
            let taken = new_group(tx, &world.bob, path, None).unwrap_err().to_string();
            assert!(taken.starts_with("Failed to save group"), "{taken}");
        }
        Ok(())
    });
}

#[test]
fn a_group_is_not_more_visible_than_the_one_above() {
    test(|tx, world| {
        let grant = in_group::<AdminGroup>(tx, &world.ada, world.group.id)?;
        let new = NewGroup {
            name: "Open".to_owned(),
            path: "open".to_owned(),
            parent: Some((world.group.id, *grant.who())),
            visibility: Some(Visibility::Public),
            picture_fault: None,
        };
        let refused = create(tx, &signed_in(&world.ada), &new, |_| {}).unwrap_err();
        assert!(refused.to_string().contains("visibility_level"), "{refused}");
        Ok(())
    });
}

#[test]
fn a_group_is_made_in_another_by_those_who_may() {
    test(|tx, world| {
        world.join_group(tx, &world.bob, AccessLevel::Developer)?;
        let refused = new_group(tx, &world.bob, "inner", Some(world.group.id)).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        let inner = new_group(tx, &world.ada, "inner", Some(world.group.id))?;
        assert_eq!(inner.full_path, "team/inner");
        Ok(())
    });
}

#[test]
fn a_new_path_moves_what_is_inside_and_the_old_one_leads_there() {
    test(|tx, world| {
        let grant = in_group::<AdminGroup>(tx, &world.ada, world.group.id)?;
        update(tx, &grant, |group| group.path = "crew".to_owned())?;
        assert_eq!(tx.project(world.project.id)?.full_path, "crew/tea");
        let old = IdOrPath::Path("team/tea".to_owned());
        let (found, _) = locate_project(tx, world.ada.actor(), &old)?;
        assert_eq!(found.0.id, world.project.id);
        Ok(())
    });
}

#[test]
fn an_old_path_is_free_for_others() {
    test(|tx, world| {
        let grant = in_group::<AdminGroup>(tx, &world.ada, world.group.id)?;
        update(tx, &grant, |group| group.path = "crew".to_owned())?;
        let other = new_group(tx, &world.bob, "team", None)?;
        assert_eq!(tx.find_namespace_at("team")?.unwrap().id, other.id);
        Ok(())
    });
}

#[test]
fn a_group_is_at_least_as_visible_as_what_is_in_it() {
    test(|tx, world| {
        crate::world::publish(tx, world)?;
        let grant = in_group::<AdminGroup>(tx, &world.ada, world.group.id)?;
        let refused = update(tx, &grant, |group| group.visibility = Visibility::Private);
        assert_eq!(refused.unwrap_err().kind, Kind::BadRequest);
        Ok(())
    });
}
