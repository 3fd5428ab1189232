//! Pictures of what a monitor showed.

use db::Tx;
use kernel::{Grant, Result, error::Kind, page::PageRequest};
use security::{
    metric_image::{
        ImageDetails, MetricImage, MetricImageStore as _,
        actions::{IMAGE_SIZE_LIMIT, ImageFile, add, ensure_wanted, list, remove, update},
    },
    policy::{ChangeAlerts, ReadMetricImages},
};
use serde_json::json;

use crate::world::{FakeIncidents, World, send, test};

/// Two alerts, and somebody who may add pictures to them.
fn set_up(tx: &mut Tx<'_>, world: &World) -> Result<Grant<ChangeAlerts>> {
    let to = world.integration(tx)?;
    for title in ["a", "b"] {
        send(tx, &FakeIncidents::default(), &to, &json!({ "title": title }))?;
    }
    world.may(world.developer)
}

fn details(url: &str, text: &str) -> ImageDetails {
    ImageDetails { url: Some(url.to_owned()), url_text: Some(text.to_owned()) }
}

fn image(tx: &mut Tx<'_>, grant: &Grant<ChangeAlerts>, iid: i64) -> Result<MetricImage> {
    let file = ImageFile { secret: "00ff".to_owned(), name: "a.png".to_owned(), bytes: 7 };
    add(tx, grant, iid, file, details("https://a.test", "Panel"))
}

#[test]
fn a_picture_belongs_to_its_alert() {
    test(|tx, world| {
        let grant = set_up(tx, world)?;
        let made = image(tx, &grant, 1)?;
        let reading = world.may::<ReadMetricImages>(world.developer)?;
        assert_eq!(
            list(tx, &reading, 1, PageRequest::default())?.items,
            std::slice::from_ref(&made)
        );
        assert!(list(tx, &reading, 2, PageRequest::default())?.items.is_empty());
        let elsewhere = update(tx, &grant, 2, made.id, ImageDetails::default()).unwrap_err();
        let told = (elsewhere.kind, elsewhere.to_string());
        assert_eq!(told, (Kind::NotFound, "Metric image not found".to_owned()));
        let unknown = image(tx, &grant, 9).unwrap_err();
        assert_eq!(unknown.to_string(), "Alert not found");
        let (project, found) = tx.find_metric_image_of_any(made.id)?.unwrap();
        assert_eq!((project, found), (world.project, made));
        Ok(())
    });
}

#[test]
fn who_may_not_see_alerts_is_told_that_there_is_none() {
    test(|_, world| {
        let refused = world.may::<ReadMetricImages>(world.reporter).unwrap_err();
        assert_eq!(
            (refused.kind, refused.to_string().as_str()),
            (Kind::NotFound, "Alert not found")
        );
        assert_eq!(world.may::<ChangeAlerts>(world.reporter).unwrap_err().kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn a_picture_is_refused_before_it_is_kept() {
    test(|tx, world| {
        let grant = set_up(tx, world)?;
        let mut ask = |iid, bytes, details: ImageDetails| {
            ensure_wanted(tx, &grant, iid, bytes, &details).map_err(|failure| failure.kind)
        };
        let plain = ImageDetails::default;
        assert_eq!(ask(1, IMAGE_SIZE_LIMIT, plain()), Ok(()));
        assert_eq!(ask(1, IMAGE_SIZE_LIMIT + 1, plain()), Err(Kind::BadRequest));
        assert_eq!(ask(1, 1, details("javascript:alert(1)", "")), Err(Kind::BadRequest));
        assert_eq!(ask(1, 1, details("", &"x".repeat(129))), Err(Kind::BadRequest));
        assert_eq!(ask(3, IMAGE_SIZE_LIMIT + 1, plain()), Err(Kind::NotFound));
        Ok(())
    });
}

#[test]
fn what_is_said_of_a_picture_changes_in_part() {
    test(|tx, world| {
        let grant = set_up(tx, world)?;
        let made = image(tx, &grant, 1)?;
        let change = ImageDetails { url_text: Some("New".to_owned()), url: None };
        let changed = update(tx, &grant, 1, made.id, change)?;
        let told = (changed.url.as_deref(), changed.url_text.as_deref());
        assert_eq!(told, (Some("https://a.test"), Some("New")));
        let refused = update(tx, &grant, 1, made.id, details("x", "y")).unwrap_err();
        let told = (refused.kind, refused.to_string());
        assert_eq!(told, (Kind::Unprocessable, "Metric image could not be updated".to_owned()));
        assert_eq!(remove(tx, &grant, 1, made.id, None)?.secret, "00ff");
        assert!(tx.find_metric_image(changed.alert_id, made.id)?.is_none());
        Ok(())
    });
}
