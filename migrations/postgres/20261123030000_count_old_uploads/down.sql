DELETE FROM work WHERE kind = 'project.count_uploads';
