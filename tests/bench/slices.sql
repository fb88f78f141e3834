select name, count(*), sum(dur) from slice group by name order by 3 desc limit 25;
