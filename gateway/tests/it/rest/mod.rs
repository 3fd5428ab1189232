mod conventions;
