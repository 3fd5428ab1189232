//! A job that the server does: it makes a pipeline somewhere else, or follows one.

use super::{
    AllowFailure, JobEntry, Kind, Path, Report,
    default::Part,
    fields::Fields,
    job::{COMMON_KEYS, Common, OwnFields, common_attributes, interruptible},
    jobs::JobContext,
    needs, parallel, trigger,
};
use crate::config::{node::Map, options::Options};

const KEYS: &[&str] = &["trigger", "parallel"];
const TIMES: &[&str] = &["on_success", "on_failure", "always", "manual"];

pub(super) fn bridge(
    report: &mut Report,
    path: &Path<'_>,
    map: &Map,
    around: &JobContext<'_>,
) -> Option<JobEntry> {
    let mark = report.mark();
    let mut fields = Fields::of(report, path, map);
    let resource_group = common_attributes(&mut fields);
    fields.known_of(&[COMMON_KEYS, KEYS]);
    let when =
        fields.choice("when", TIMES, "should be one of: on_success, on_failure, always, manual");
    let allow_failure = fields.flag("allow_failure");
    if !fields.is_clean() {
        return None;
    }
    let common = Common::read(report, path, map, around);
    let mut part = Part { report, path, map };
    let interruptible = interruptible(&mut part, around.default, &common.inherit.default);
    let trigger = part.read("trigger", trigger::trigger);
    let needs =
        part.read("needs", |report, entry| needs::needs(report, entry, needs::NeedsOwner::Bridge));
    let parallel = part.read("parallel", |report, entry| {
        parallel::parallel(report, entry, parallel::ParallelForms::MatrixOnly)
    });
    let pipelines = needs.as_ref().map_or(&[][..], |needs| &needs.bridges);
    if map.present("trigger").is_none() && pipelines.is_empty() {
        report.config(path, "should contain either a trigger or a needs:pipeline");
    }
    if pipelines.len() > 1 {
        report.config(path, "should contain at most one bridge need");
    }
    if !report.is_clean_since(mark) {
        return None;
    }
    let bridge_needs = pipelines.first().cloned();
    let options = Options { trigger, bridge_needs, parallel, ..Options::default() };
    let own = OwnFields { when, resource_group, ..OwnFields::default() };
    Some(JobEntry {
        allow_failure: allow_failure.map_or(AllowFailure::Unsaid, AllowFailure::Said),
        needs,
        interruptible,
        ..common.into_entry(Kind::Bridge, own, options)
    })
}
