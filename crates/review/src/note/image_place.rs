//! Places on images about which something is said are moved.

use db::Tx;
use kernel::{Error, Result, ids::NoteId};

use super::{
    event::{Event, Fact},
    model::Note,
    position::{Position, PositionType},
    reading,
    rules::ensure_changeable,
    store::NoteStore as _,
};
use crate::{
    item::{ParticipationGrant, reading as items},
    ports::Forge,
};

/// Another place on the same image; what is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImagePlace {
    pub width: Option<i64>,
    pub height: Option<i64>,
    pub x: Option<f64>,
    pub y: Option<f64>,
}

/// Moves a note to another place on its image.
///
/// # Errors
/// `BadRequest` for a note that is about no image, `Forbidden` for those who may not change it.
pub fn move_note<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    (iid, id): (i64, NoteId),
    to: ImagePlace,
) -> Result<Note> {
    let item = items::read(tx, grant, iid)?;
    let note = reading::note(tx, grant, forge, &item, id)?;
    ensure_changeable(&item, &note, grant)?;
    let known: Option<Position> =
        note.position.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let Some(old) = known.filter(|at| at.position_type == PositionType::Image) else {
        return Err(Error::bad_request().whole("Resource is not an ImageDiffNote"));
    };
    let new = Position {
        width: to.width.or(old.width),
        height: to.height.or(old.height),
        x: to.x.or(old.x),
        y: to.y.or(old.y),
        ..old
    };
    let text = serde_json::to_string(&new).map_err(Error::internal)?;
    let note = tx.save_note_position(id, &text)?;
    tx.emit(Event::NoteUpdated(Fact::new(&note, grant.user()?)))?;
    Ok(note)
}
