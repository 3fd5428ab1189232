//! Who may send alerts.

use kernel::{error::Kind, page::PageRequest};
use security::{
    alert::{Denial, authorize},
    integration::{
        AlertField, AlertIntegration, Endpoint, IntegrationKey, IntegrationKind,
        IntegrationStore as _, MappedType, Mapping, Mappings,
        actions::{
            IntegrationChange, NewIntegration, create, list, read, remove, reset_key, update,
        },
    },
    policy::{AdminAlerts, ReadAlertIntegrations},
    sealed,
};

use crate::world::{integration, test};

#[test]
fn a_key_opens_its_own_integration_while_that_is_active() {
    test(|tx, world| {
        let (one, two) = (world.integration(tx)?, world.integration(tx)?);
        let at = |integration: &AlertIntegration| Endpoint::Named(integration.endpoint.clone());
        let (own, other) = (one.key(&world.vault)?, two.key(&world.vault)?);
        assert_eq!(authorize(tx, world.project, &at(&one), Some(&own))?.unwrap().id, one.id);
        for key in [None, Some(&other), Some(&IntegrationKey::given(""))] {
            let denied = authorize(tx, world.project, &at(&one), key)?.unwrap_err();
            assert_eq!(denied, Denial::WrongKey);
        }
        let denied = authorize(tx, world.other, &at(&one), Some(&own))?.unwrap_err();
        assert_eq!(denied, Denial::NoIntegration, "it is of another project");
        let grant = world.may::<AdminAlerts>(world.maintainer)?;
        let off = IntegrationChange { active: Some(false), ..IntegrationChange::default() };
        update(tx, &grant, one.id, &off)?;
        let denied = authorize(tx, world.project, &at(&one), None)?.unwrap_err();
        assert_eq!(denied, Denial::NoIntegration, "before its key is looked at");
        Ok(())
    });
}

#[test]
fn the_oldest_of_a_kind_has_the_address_without_a_name() {
    test(|tx, world| {
        let first = world.integration_in(tx, world.project, IntegrationKind::Prometheus)?;
        let second = world.integration(tx)?;
        world.integration(tx)?;
        for (kind, expected) in
            [(IntegrationKind::Http, &second), (IntegrationKind::Prometheus, &first)]
        {
            let found = tx.find_alert_integration(world.project, &Endpoint::Oldest(kind))?;
            assert_eq!(found.unwrap().id, expected.id);
        }
        let none = tx.find_alert_integration(world.other, &Endpoint::Oldest(IntegrationKind::Http));
        assert!(none?.is_none());
        Ok(())
    });
}

#[test]
fn a_new_key_leaves_the_address_as_it_is() {
    test(|tx, world| {
        let before = world.integration(tx)?;
        let grant = world.may::<AdminAlerts>(world.maintainer)?;
        let after = reset_key(tx, &grant, &world.vault, before.id)?;
        assert_eq!((&after.endpoint, &after.name), (&before.endpoint, &before.name));
        assert_ne!(after.key(&world.vault)?, before.key(&world.vault)?);
        assert!(!after.accepts(&before.key(&world.vault)?));
        assert_eq!(before.endpoint.len(), 16);
        Ok(())
    });
}

#[test]
fn what_cannot_be_is_refused_by_its_field() {
    test(|tx, world| {
        let grant = world.may::<AdminAlerts>(world.maintainer)?;
        let plain = integration(IntegrationKind::Http, "x");
        let described = |mapping: Mapping| NewIntegration {
            mappings: Mappings::from([(AlertField::Title, mapping)]),
            ..plain.clone()
        };
        let mapped = |path: Vec<String>| described(Mapping::at(path));
        let named = Mapping { label: Some("x".repeat(256)), ..Mapping::at(vec!["a".to_owned()]) };
        let shown =
            |text: &str| NewIntegration { payload_example: Some(text.to_owned()), ..plain.clone() };
        for odd in [
            integration(IntegrationKind::Http, " "),
            integration(IntegrationKind::Http, &"x".repeat(256)),
            mapped(Vec::new()),
            mapped(vec!["a".to_owned(); 21]),
            mapped(vec!["x".repeat(256)]),
            described(named),
            shown("[]"),
            shown("{\"a\":"),
            shown(&format!("{{\"a\":\"{}\"}}", "x".repeat(64 << 10))),
        ] {
            let refused = create(tx, &grant, &world.vault, &odd).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{odd:?}");
        }
        create(tx, &grant, &world.vault, &integration(IntegrationKind::Http, &"x".repeat(255)))?;
        let made = create(tx, &grant, &world.vault, &shown("{\"a\":1}"))?;
        assert_eq!(made.payload_example.as_deref(), Some("{\"a\":1}"));
        Ok(())
    });
}

#[test]
fn a_mapping_keeps_what_is_said_of_it_and_an_older_one_is_a_place_alone() {
    test(|tx, world| {
        let grant = world.may::<AdminAlerts>(world.maintainer)?;
        let path = vec!["times".to_owned(), "0".to_owned()];
        let (kind, label) = (MappedType::DateTime, Some("Start".to_owned()));
        let whole = Mapping { path: path.clone(), kind, label };
        let mappings = Mappings::from([(AlertField::StartTime, whole)]);
        let plain = integration(IntegrationKind::Http, "x");
        let new = NewIntegration { mappings: mappings.clone(), ..plain };

        let made = create(tx, &grant, &world.vault, &new)?;

        assert_eq!(made.mapped_fields()?, mappings);
        let older = r#"{"start_time":["times","0"]}"#.to_owned();
        let older = AlertIntegration { mappings: older, ..made }.mapped_fields()?;
        assert_eq!(older, Mappings::from([(AlertField::StartTime, Mapping::at(path))]));
        Ok(())
    });
}

#[test]
fn a_project_has_a_hundred_integrations_at_most() {
    test(|tx, world| {
        for _ in 0..100 {
            world.integration(tx)?;
        }
        let refused = world.integration(tx).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        world.integration_in(tx, world.other, IntegrationKind::Http).map(drop)
    });
}

#[test]
fn an_integration_is_of_its_project_alone() {
    test(|tx, world| {
        let made = world.integration(tx)?;
        let grant = world.may_in::<ReadAlertIntegrations>(world.other, world.maintainer)?;
        assert_eq!(read(tx, &grant, made.id).unwrap_err().kind, Kind::NotFound);
        assert!(list(tx, &grant, PageRequest::default())?.items.is_empty());
        let grant = world.may_in::<AdminAlerts>(world.other, world.maintainer)?;
        assert_eq!(remove(tx, &grant, made.id, None).unwrap_err().kind, Kind::NotFound);
        assert!(world.may::<AdminAlerts>(world.developer).is_err());
        let grant = world.may::<AdminAlerts>(world.maintainer)?;
        remove(tx, &grant, made.id, Some(tx.now))
    });
}

#[test]
fn sealed_keys_are_known_by_the_vault_that_sealed_them() {
    test(|tx, world| {
        assert_eq!(sealed::is_key_of(tx, &world.vault, 10)?, None);
        world.integration(tx)?;
        assert_eq!(sealed::is_key_of(tx, &world.vault, 10)?, Some(true));
        let folder = tempfile::tempdir().unwrap();
        let other = secrets::Vault::find_or_make(folder.path()).unwrap();
        assert_eq!(sealed::is_key_of(tx, &other, 10)?, Some(false));
        assert_eq!((sealed::count(tx)?, sealed::delete_all(tx)?), (1, 1));
        assert!(!sealed::has_any(tx)?);
        Ok(())
    });
}
