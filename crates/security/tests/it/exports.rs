//! Exports, from the wish to their end.

use db::Tx;
use kernel::{
    AccessLevel, Result,
    error::Kind,
    ids::{PipelineId, VulnerabilityId},
};
use security::{
    export::{
        Creation, Export, ExportStore as _, NewExport, Status, Step, WriteExport,
        actions::{
            LIFETIME, WRITE_ATTEMPTS, begin, create_for_dashboard, create_for_project, end, lines,
            note_failure, projects, read, read_finished,
        },
    },
    policy::{ReadVulnerabilities, UseVulnerabilities, UseVulnerabilityExports},
    vulnerability::{
        Step as Judge, VulnerabilityStore as _,
        actions::{Judgement, judge},
    },
};
use time::Duration;

use crate::{
    vulnerabilities::finding,
    world::{World, test, with_clock},
};

fn made(creation: Creation) -> Export {
    match creation {
        Creation::Created(export) => export,
        Creation::Underway => panic!("one is underway"),
    }
}

/// An export of the first project by its developer.
fn export(tx: &mut Tx<'_>, world: &World) -> Result<Export> {
    let grant = world.may::<ReadVulnerabilities>(world.developer)?;
    create_for_project(tx, &grant, NewExport::default()).map(made)
}

#[test]
fn one_export_of_the_same_is_underway_for_each() {
    test(|tx, world| {
        let first = export(tx, world)?;
        assert_eq!((first.status, first.started_at), (Status::Created, None));
        let grant = world.may::<ReadVulnerabilities>(world.developer)?;
        let again = create_for_project(tx, &grant, NewExport::default())?;
        assert!(matches!(again, Creation::Underway));
        let other = world.may_in::<ReadVulnerabilities>(world.other, world.developer)?;
        made(create_for_project(tx, &other, NewExport::default())?);
        let theirs = world.may::<ReadVulnerabilities>(world.maintainer)?;
        made(create_for_project(tx, &theirs, NewExport::default())?);
        let all = world.may_anywhere::<UseVulnerabilityExports>(world.developer)?;
        made(create_for_dashboard(tx, &all, NewExport::default())?);
        begin(tx, first.id)?;
        end(tx, first.id, Step::Finish)?;
        made(create_for_project(tx, &grant, NewExport::default())?);
        Ok(())
    });
}

#[test]
fn an_export_is_gone_an_hour_after_its_end() {
    let (database, clock) = with_clock();
    let id = database.db.write_blocking(|tx| {
        let world = World::new(tx)?;
        Ok(export(tx, &world)?.id)
    });
    let id = id.unwrap();
    clock.advance(Duration::minutes(30));
    let ended = database.db.write_blocking(move |tx| {
        begin(tx, id)?;
        Ok(end(tx, id, Step::Finish)?.unwrap().expires_at == tx.now.plus(LIFETIME))
    });
    assert!(ended.unwrap(), "its hour begins again");
    for (minutes, there) in [(59, true), (1, false)] {
        clock.advance(Duration::minutes(minutes));
        let found = database.db.write_blocking(move |tx| {
            let over = tx.expired_exports(10)?;
            tx.delete_expired_exports(&[id])?;
            Ok((tx.find_export(id)?.is_some(), over))
        });
        let gone = if there { Vec::new() } else { vec![id] };
        assert_eq!(found.unwrap(), (there, gone));
    }
}

#[test]
fn who_was_stopped_begins_again_and_what_is_over_stays() {
    test(|tx, world| {
        let id = export(tx, world)?.id;
        for _ in 0..2 {
            assert_eq!(begin(tx, id)?.unwrap().status, Status::Running);
        }
        assert_eq!(end(tx, id, Step::Fail)?.unwrap().status, Status::Failed);
        assert!(begin(tx, id)?.is_none());
        assert_eq!(end(tx, id, Step::Finish).unwrap_err().kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn an_export_is_its_authors_while_they_could_make_it() {
    test(|tx, world| {
        let id = export(tx, world)?.id;
        let own = world.may_anywhere::<UseVulnerabilityExports>(world.developer)?;
        let theirs = world.may_anywhere::<UseVulnerabilityExports>(world.maintainer)?;
        assert_eq!(read(tx, &own, &world.around, id)?.id, id);
        let refused = read(tx, &theirs, &world.around, id).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        let left = world.around.without(world.developer);
        assert_eq!(read(tx, &own, &left, id).unwrap_err().kind, Kind::Forbidden);
        let unfinished = read_finished(tx, &own, &world.around, id).unwrap_err();
        let told = (unfinished.kind, unfinished.to_string());
        assert_eq!(told, (Kind::NotFound, "Vulnerability Export not found".to_owned()));
        begin(tx, id)?;
        end(tx, id, Step::Finish)?;
        assert_eq!(read_finished(tx, &own, &world.around, id)?.status, Status::Finished);
        Ok(())
    });
}

#[test]
fn an_export_lists_what_its_author_may_see_when_it_is_written() {
    test(|tx, world| {
        let export = export(tx, world)?;
        assert_eq!(projects(tx, &world.around, &export)?, [world.project]);
        let of_group = Export { project_id: None, group_id: Some(world.group), ..export.clone() };
        assert_eq!(projects(tx, &world.around, &of_group)?, [world.project, world.other]);
        let left = world.around.without(world.developer);
        assert!(projects(tx, &left, &export)?.is_empty());
        Ok(())
    });
}

#[test]
fn an_auditor_exports_what_others_develop() {
    test(|tx, world| {
        let export = export(tx, world)?;
        let mut around = world.around.without(world.developer);
        around.people.push((world.developer, "developer", AccessLevel::NoAccess));
        assert!(projects(tx, &around, &export)?.is_empty());
        let own = world.may_anywhere::<UseVulnerabilityExports>(world.developer)?;
        assert_eq!(read(tx, &own, &around, export.id).unwrap_err().kind, Kind::Forbidden);

        around.auditors.push(world.developer);

        assert_eq!(projects(tx, &around, &export)?, [world.project]);
        assert_eq!(read(tx, &own, &around, export.id)?.id, export.id);
        Ok(())
    });
}

#[test]
fn lines_come_in_pieces_with_what_people_said() {
    test(|tx, world| {
        for title in ["a", "=b", "c"] {
            tx.save_finding(world.project, PipelineId(1), &finding(title))?;
        }
        let (first, last) = lines(tx, &world.around, world.project, VulnerabilityId(0), 2)?;
        assert_eq!(first.len(), 2);
        let (rest, _) = lines(tx, &world.around, world.project, last.unwrap(), 2)?;
        assert_eq!(rest.len(), 1);
        let grant = world.may_anywhere::<UseVulnerabilities>(world.developer)?;
        let said = Judgement { step: Judge::Resolve, reason: None, comment: "a; b".to_owned() };
        judge(tx, &grant, &world.around, last.unwrap(), &said)?;
        let (told, _) = lines(tx, &world.around, world.project, VulnerabilityId(0), 9)?;
        let row = "Group,Project,sast,Semgrep,resolved,'=b,,,high,CVE-=b,,\"\",2026-01-01 00:00:00 UTC,{},false,\
                   2026-01-01 00:00:00 UTC|developer|resolved|a; b\n";
        assert_eq!(told[1].0, row);
        let (none, end) = lines(tx, &world.around, world.project, VulnerabilityId(i64::MAX), 2)?;
        assert!(none.is_empty() && end.is_none());
        Ok(())
    });
}

#[test]
fn an_export_that_cannot_be_written_fails_after_some_attempts() {
    test(|tx, world| {
        let id = export(tx, world)?.id;
        for failures in 0..WRITE_ATTEMPTS - 1 {
            begin(tx, id)?;
            assert!(note_failure(tx, WriteExport { export: id, failures })?.is_none());
            assert_eq!(tx.find_export(id)?.unwrap().status, Status::Running);
        }
        let last = WriteExport { export: id, failures: WRITE_ATTEMPTS - 1 };
        let failed = note_failure(tx, last)?.unwrap();
        assert_eq!((failed.status, failed.finished_at), (Status::Failed, Some(tx.now)));
        Ok(())
    });
}
