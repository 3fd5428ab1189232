-- The orders in which those who count are listed, as far as their own rows tell.
CREATE INDEX seats_level ON seats (namespace_id, access_level, user_id);
CREATE INDEX seats_level_from_the_highest ON seats (namespace_id, access_level DESC, user_id);
CREATE INDEX seats_since ON seats (namespace_id, since, user_id);
