DELETE FROM stamps WHERE subject = 'roles by older rules';
