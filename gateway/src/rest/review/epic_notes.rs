//! Notes of epics.

use review::policy::{DiscussEpics, ReadEpicNotes};

use super::notes::{create, list, remove, show, update};
use crate::routes;

routes! { "Notes" at "/groups/{id}/epics/{epic_iid}/notes";
    GET    ""           => list   : ReadEpicNotes,
    POST   ""           => create : DiscussEpics,
    GET    "/{note_id}" => show   : ReadEpicNotes,
    PUT    "/{note_id}" => update : DiscussEpics,
    DELETE "/{note_id}" => remove : DiscussEpics,
}

pub mod discussions {
    use super::{DiscussEpics, ReadEpicNotes};
    use crate::{
        rest::review::discussions::{
            create, list, list_notes, remove_note, reply, show, show_note, update_note,
        },
        routes,
    };

    routes! { "Discussions" at "/groups/{id}/epics/{epic_iid}/discussions";
        GET    ""                                 => list        : ReadEpicNotes,
        POST   ""                                 => create      : DiscussEpics,
        GET    "/{discussion_id}"                 => show        : ReadEpicNotes,
        GET    "/{discussion_id}/notes"           => list_notes  : ReadEpicNotes,
        POST   "/{discussion_id}/notes"           => reply       : DiscussEpics,
        GET    "/{discussion_id}/notes/{note_id}" => show_note   : ReadEpicNotes,
        PUT    "/{discussion_id}/notes/{note_id}" => update_note : DiscussEpics,
        DELETE "/{discussion_id}/notes/{note_id}" => remove_note : DiscussEpics,
    }
}
