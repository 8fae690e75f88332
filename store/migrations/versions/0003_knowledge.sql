-- Knowledge: what an article is for, whom it fits, who has reviewed it, and the passages that a search finds.
-- It runs in one transaction while nothing is served; there are few articles.
-- squawk-ignore-file constraint-missing-not-valid
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- ---------------------------------------------------------------- articles
ALTER TABLE articles ADD COLUMN kind text NOT NULL DEFAULT 'article';
ALTER TABLE articles ADD CONSTRAINT articles_kind CHECK (kind IN ('article', 'macro')) NOT VALID;
ALTER TABLE articles VALIDATE CONSTRAINT articles_kind;
ALTER TABLE articles ADD COLUMN product_versions text[] NOT NULL DEFAULT '{}';   -- empty: every version of the product
ALTER TABLE articles ADD COLUMN reviewed_by text;                               -- null: for staff alone, until somebody has
ALTER TABLE articles ADD COLUMN imported_at timestamptz NOT NULL DEFAULT now();
-- What was there has been quoted to customers until now, and goes on to be.
UPDATE articles SET reviewed_by = 'migration:0003';

-- ---------------------------------------------------------------- passages: what a search finds and a reply quotes
-- They are made from the article's body; only their embeddings are ever made anew, when another model makes them.
CREATE TABLE passages (
    tenant_id text NOT NULL,
    slug      text NOT NULL,
    language  text NOT NULL,
    version   integer NOT NULL,
    position  integer NOT NULL CHECK (position >= 0),
    text      text NOT NULL CHECK (text <> ''),
    words     tsvector NOT NULL,  -- of its title, its heading and itself, by the rules of its language
    embedding real[],             -- becomes a vector where the extension pgvector is there (store.vectors)
    embedder  text,               -- the model that has made the embedding: only its own can be compared
    PRIMARY KEY (tenant_id, slug, language, version, position),
    FOREIGN KEY (tenant_id, slug, language, version) REFERENCES articles (tenant_id, slug, language, version),
    CHECK ((embedding IS NULL) = (embedder IS NULL))
);

ALTER TABLE passages ALTER COLUMN embedding SET STORAGE MAIN;  -- every search reads it of every passage: not elsewhere

-- How near two embeddings of length one are; where pgvector is there, one of the same name on its vectors is used, and
-- what is asked is made one of these by another of the second name.
CREATE FUNCTION as_kept(asked real[]) RETURNS real[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$ SELECT asked $$;
CREATE FUNCTION nearness(kept real[], asked real[]) RETURNS real
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT sum(k * a)::real FROM unnest(kept, asked) AS pair (k, a)
$$;

-- ---------------------------------------------------------------- INVARIANT 8: nothing of one tenant is readable by another
ALTER TABLE passages ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON passages TO "{app_role}"
    USING (tenant_id = (SELECT current_setting('interlock.tenant', true)))
    WITH CHECK (tenant_id = (SELECT current_setting('interlock.tenant', true)));
GRANT SELECT ON passages TO "{app_role}";
-- What is quoted to customers is the owner's to publish, as policy is: no serving process can write a word of it.
-- An article that was ever quoted stays as it was: it is added to, never changed, never deleted.
