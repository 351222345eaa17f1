-- Promise: the learned seconds per page of a handler; no row for what was not learned yet.
SELECT source, seconds_per_page
FROM lease_rates
WHERE handler = :handler
