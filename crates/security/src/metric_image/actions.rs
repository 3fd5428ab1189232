//! Adding, reading, changing and taking away metric images. The files themselves are kept by whoever calls.

use db::Tx;
use kernel::{
    Error, Grant, Result, Ts,
    ids::MetricImageId,
    page::{Page, PageRequest},
};

use super::{ImageDetails, MetricImage, MetricImageStore as _};
use crate::{
    alert::{Alert, AlertStore as _},
    policy::{ChangeAlerts, ReadMetricImages, no_alert},
};

/// Bytes of a file.
pub const IMAGE_SIZE_LIMIT: u64 = 1 << 20;
const TOO_LARGE: &str = "File is too large";
const NO_IMAGE: &str = "Metric image not found";
const NOT_UPDATED: &str = "Metric image could not be updated";

/// A page of an alert's images, oldest first.
///
/// # Errors
/// `NotFound` where there is no such alert.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMetricImages>,
    alert_iid: i64,
    page: PageRequest,
) -> Result<Page<MetricImage>> {
    let alert = tx.find_alert(grant.project(), alert_iid)?.ok_or_else(no_alert)?;
    tx.metric_images(alert.id, page)
}

/// Refuses an image before its file is kept.
///
/// # Errors
/// `NotFound` where there is no such alert, `BadRequest` for too much, or for details that cannot be.
pub fn ensure_wanted(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    alert_iid: i64,
    bytes: u64,
    details: &ImageDetails,
) -> Result<()> {
    find_alert(tx, grant, alert_iid)?;
    if bytes > IMAGE_SIZE_LIMIT {
        return Err(Error::bad_request().because(TOO_LARGE));
    }
    details.faults().into_result()
}

/// The file of an image, as it is kept.
#[derive(Clone, Debug)]
pub struct ImageFile {
    pub secret: String,
    pub name: String,
    pub bytes: i64,
}

/// # Errors
/// As [`ensure_wanted`].
pub fn add(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    alert_iid: i64,
    file: ImageFile,
    details: ImageDetails,
) -> Result<MetricImage> {
    let alert = find_alert(tx, grant, alert_iid)?;
    let now = tx.now;
    tx.insert_metric_image(&MetricImage {
        id: MetricImageId(0),
        alert_id: alert.id,
        secret: file.secret,
        filename: file.name,
        bytes: file.bytes,
        url: details.url,
        url_text: details.url_text,
        created_at: now,
        updated_at: now,
    })
}

/// Replaces what is given; the rest stays.
///
/// # Errors
/// `NotFound` where there is no such alert or image, `Unprocessable` for details that cannot be.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    alert_iid: i64,
    id: MetricImageId,
    change: ImageDetails,
) -> Result<MetricImage> {
    let before = find(tx, grant, alert_iid, id)?;
    if !change.faults().is_empty() {
        return Err(Error::unprocessable().whole(NOT_UPDATED));
    }
    let after = MetricImage {
        url: change.url.or(before.url),
        url_text: change.url_text.or(before.url_text),
        updated_at: tx.now,
        ..before
    };
    tx.keep_metric_image(&after)?;
    Ok(after)
}

/// Takes an image away, unless it changed after `unmodified_since`; the answer is what was there.
///
/// # Errors
/// As [`update`].
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    alert_iid: i64,
    id: MetricImageId,
    unmodified_since: Option<Ts>,
) -> Result<MetricImage> {
    let image = find(tx, grant, alert_iid, id)?;
    image.updated_at.ensure_unchanged_since(unmodified_since)?;
    match tx.delete_metric_image(id)? {
        true => Ok(image),
        false => Err(Error::missing().whole(NO_IMAGE)),
    }
}

/// # Errors
/// `NotFound` where there is no such alert.
pub fn ensure_alert(tx: &mut Tx<'_>, grant: &Grant<ChangeAlerts>, alert_iid: i64) -> Result<()> {
    find_alert(tx, grant, alert_iid).map(drop)
}

fn find_alert(tx: &mut Tx<'_>, grant: &Grant<ChangeAlerts>, iid: i64) -> Result<Alert> {
    tx.find_alert(grant.project(), iid)?.ok_or_else(no_alert)
}

fn find(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    alert_iid: i64,
    id: MetricImageId,
) -> Result<MetricImage> {
    let alert = find_alert(tx, grant, alert_iid)?;
    let found = tx.find_metric_image(alert.id, id)?;
    found.ok_or_else(|| Error::missing().whole(NO_IMAGE))
}
