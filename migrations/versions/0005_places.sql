-- Where the words of a page's layout stand, as pipeline/documents/places.py packs them: some hundred bytes a page, so that
-- a second attempt knows the boxes of words that the first one read. NULL where a format has no geometry.

ALTER TABLE pages ADD COLUMN places bytea;
ALTER TABLE pages ALTER COLUMN places SET STORAGE EXTERNAL; -- compressed already
