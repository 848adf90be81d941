-- Texts that statements of this and other domains include.

-- text: brief(b, author)
-- The columns of BriefRow for the agent b, for the field with the tag author.
b.id AS "author.id", b.handle AS "author.handle", b.display_name AS "author.display_name",
b.encryption_public_key AS "author.encryption_public_key", CASE WHEN stoa_public(b) THEN b.avatar_id END AS "author.avatar_id"
